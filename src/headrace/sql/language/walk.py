"""Every part of a tree, whatever it is part of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from headrace.sql.language.pattern_tree import AbsenceStep, EventStep
from headrace.sql.language.statement_tree import Statement
from headrace.sql.language.tree import CommonTable, Name, Reference


def parts(node: object) -> Iterator[object]:
    """The node and all typed parts inside it, from left to right; sqlglot's trees are left alone."""
    if isinstance(node, tuple):
        for item in node:
            yield from parts(item)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            if field.name != "tree":
                yield from parts(getattr(node, field.name))


def names_read(statement: Statement) -> Iterator[Name]:
    """The streams and tables that a statement reads, without the parts that it names itself behind WITH."""
    found = list(parts(statement))
    own = {part.name.text for part in found if isinstance(part, CommonTable)}
    for part in found:
        match part:
            case Reference():
                name = part.name
            case EventStep() | AbsenceStep():
                name = part.stream
            case _:
                continue
        if name.text not in own:
            yield name
