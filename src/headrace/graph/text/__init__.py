"""Text notation: one chain of operators per line.

    topic telemetry schema="drone STRING, battery DOUBLE" as telemetry ! filter "battery < 20" ! to-topic alerts
    @telemetry ! preview rows=10       # a branch: @ refers to a node by its id

    text     = chain { ( newline | ";" ) chain }            a line that starts or ends with "!" goes on
    chain    = step { "!" step }
    step     = operator { value } { name "=" value } [ "as" id ]  |  "@" id [ "." port ]
    value    = word | number | true | false | null | "string" | [ JSON list ] | { JSON object }

Values without a name fill the operator's first setting; where that is a list, there may be several. A setting that
takes a list also takes a single value: `keys=drone`. At the start of a chain a port is an output, elsewhere an input.
"""

from headrace.graph.text.reader import parse_text
from headrace.graph.text.writer import print_text

__all__ = ["parse_text", "print_text"]
