"""Comments that say something about a script or a statement: `-- @name drones`, `-- @description …`."""

from __future__ import annotations

import json
import re

from headrace.sql.language.statement_tree import Annotation

ANNOTATIONS = ("name", "description")

_LINE = re.compile(r"--\s*@(?P<key>\w+)[ \t]+(?P<value>.*\S)\s*")
_PLAIN = re.compile(r"[^\s\"](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f\u2028\u2029])?")


def read_annotations(sql: str) -> dict[str, str]:
    """The known ones among the comments before the first statement."""
    found: dict[str, str] = {}
    for line in sql.split("\n"):
        if line.strip() and not line.lstrip().startswith("--"):
            break
        match = _LINE.fullmatch(line.strip())
        if match and match["key"] in ANNOTATIONS:
            found.setdefault(match["key"], _value(match["value"]))
    return found


def annotations_in(between: str) -> tuple[Annotation, ...]:
    """All that stand in the text between two statements, of any key: those above the second one."""
    matches = (_LINE.fullmatch(line.strip()) for line in between.split("\n"))
    return tuple(Annotation(match["key"], _value(match["value"])) for match in matches if match)


def print_annotation(key: str, value: str) -> str:
    """A comment that `read_annotations` reads back; a value that needs it stands in quotes."""
    return f"-- @{key} {value if _PLAIN.fullmatch(value) else json.dumps(value)}"


def _value(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written))
    except ValueError:
        return written
