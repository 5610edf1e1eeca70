"""Whose fault it is when Spark cannot plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph.document import Node

_KIND = re.compile(r"\s*\[(?P<kind>[A-Z][A-Z0-9_.]+)\]\s*(?P<sentence>.*)")
# Behind Spark's sentence: its code of the standard, a place in a text of its own, and its manual.
_BEHIND = re.compile(r"\s*(?:SQLSTATE: \w{5}|; line \d+ pos \d+|Please, refer to '[^']*' for a fix\.).*", re.DOTALL)
_PATH = re.compile(r" on search path \[[^\]]*\]")
_WRITTEN = re.compile(r"\n== SQL[^\n]*==\n(?P<sql>[^\n]+)")
_HINTS: Final = {
    "DATATYPE_MISMATCH": "CAST(… AS type) changes a type; `headrace sql FILE --to json` shows the columns of each node",
    "FIELD_NOT_FOUND": "name one of these fields, or declare the column with the field",
    "PARSE_SYNTAX_ERROR": "write it as Spark SQL does; see docs/sql.md",
    "UNRESOLVED_ROUTINE": "SHOW FUNCTIONS lists those that there are",
    "WRONG_NUM_ARGS": "SHOW FUNCTIONS lists the functions that there are",
}


def said_by_spark(text: str) -> tuple[str, str | None]:
    """Spark's complaint about an expression in one sentence without its codes, and what can be done."""
    first = next((line for line in text.splitlines() if line.strip()), "Spark cannot plan this")
    found = _KIND.match(first)
    kind, sentence = (found["kind"], found["sentence"]) if found else ("", first)
    sentence = _PATH.sub("", _BEHIND.sub("", sentence)).strip().rstrip(".;")
    written = _WRITTEN.search(text)
    where = f", in {written['sql'].strip()}" if written else ""
    return f"{sentence or kind}{where}", _HINTS.get(kind.partition(".")[0])


@contextmanager
def blaming(node: Node) -> Iterator[None]:
    """Spark's complaint about a node's expressions, as an error that names the node."""
    from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415

    try:
        yield
    except (AnalysisException, ParseException) as error:
        message, hint = said_by_spark(str(error))
        raise InvalidInput(message, node=node.id, hint=hint) from error
    except HeadraceError as error:
        error.node = error.node or node.id
        raise
