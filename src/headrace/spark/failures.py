"""From a failed Spark query back to the error that our own code raised in it, possibly in another process."""

from __future__ import annotations

import re

from headrace import errors
from headrace.errors import HeadraceError, JobFailed

MESSAGE_CHARACTERS_MAX = 2_000

# A Python traceback inside Spark's message ends with the class, the sentence and perhaps a hint.
_RAISED = re.compile(r"headrace\.(?:errors|wire\.client\.errors)\.(?P<kind>\w+): (?P<message>.+)")
_NODE = re.compile(r"node '(?P<node>[^']+)': (?P<rest>.*)")
_HINT = re.compile(r"hint: (.+)")
# Spark's word that the data or the statement is at fault: the same rows will fail again.
_FAULT_OF_INPUT = re.compile(r"SQLSTATE: (22|42)\w{3}")
# A defect in Python code: running it again does not mend it.
_DEFECT = re.compile(
    r"^(Assertion|Attribute|Import|Index|Key|ModuleNotFound|Name|Type|UnboundLocal)Error\b", re.MULTILINE
)


def explain(failure: BaseException) -> tuple[HeadraceError, bool]:
    """The error to show, and whether running again may help."""
    if isinstance(failure, HeadraceError):
        return JobFailed(failure.message, node=failure.node, hint=failure.hint), failure.retriable
    text = str(failure)
    raised = None
    for raised in _RAISED.finditer(text):  # noqa: B007  (the last one is the cause)
        pass
    if raised is None:
        return JobFailed(_first_lines(text)), not (_FAULT_OF_INPUT.search(text) or _DEFECT.search(text))
    kind = getattr(errors, raised["kind"], None)
    retriable = kind is None or kind.retriable
    message, node = raised["message"], None
    if located := _NODE.match(message):
        message, node = located["rest"], located["node"]
    hint = _HINT.search(text, raised.end())
    return JobFailed(message, node=node, hint=hint[1] if hint else None), retriable


def _first_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("\tat ", "=== "))]
    return "\n".join(lines[:6])[:MESSAGE_CHARACTERS_MAX]
