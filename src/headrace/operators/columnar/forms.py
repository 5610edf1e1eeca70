"""An expression as plain data: `(operation, type of its values, *arguments)`.

An argument is a form, or a constant. Operations whose names end with `!` may raise, as Spark's do in ANSI mode: they
are computed only for rows that want their value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

Form: TypeAlias = tuple[Any, ...]

COLUMN: Final = "column"
LITERAL: Final = "literal"
# A value under a name, computed by another form (see `specs.Shaping`).
MADE: Final = "made"
# Null for rows that its only argument raises for.
TRY: Final = "try"
# The type of a bare NULL.
VOID: Final = "VOID"

# What costs no more than reading the columns: worth doing twice to leave out rows early.
_CHEAP: Final = frozenset({
    COLUMN, LITERAL, "cast", "+", "-", "*", "%", "negate", "<", "<=", "=", "!=", ">", ">=", "<=>", "in", "and", "or",
    "not", "is null", "is true", "hour", "minute", "second",
})  # fmt: skip


def frozen(form: Sequence[Any]) -> Form:
    """The form with tuples for the lists that JSON makes of them."""
    return tuple(frozen(part) if isinstance(part, list | tuple) else part for part in form)


def parts_of(form: Form) -> Iterator[Form]:
    """The form and all forms within it."""
    yield form
    for part in form[2:]:
        if isinstance(part, tuple):
            yield from parts_of(part)


def may_raise(form: Form) -> bool:
    # What is tried may raise, and nobody hears of it; what that is computed of is another matter.
    parts = form[2][2:] if form[0] == TRY else form[2:]
    return form[0].endswith("!") or any(may_raise(part) for part in parts if isinstance(part, tuple))


def is_cheap(form: Form) -> bool:
    return all(part[0] in _CHEAP for part in parts_of(form))


def columns_of(form: Form) -> set[str]:
    return {part[2] for part in parts_of(form) if part[0] == COLUMN}


def substituted(form: Form, columns: Mapping[str, Form]) -> Form:
    """The form with others in the places of these columns."""
    if form[0] == COLUMN:
        return columns.get(form[2], form)
    parts = (substituted(part, columns) if isinstance(part, tuple) else part for part in form[2:])
    return (form[0], form[1], *parts)


def literal(type_: str, value: object) -> Form:
    return (LITERAL, type_, value)


def is_literal(form: Form) -> bool:
    return bool(form[0] == LITERAL)


def made(name: str, form: Form) -> Form:
    """What stands for a form that is computed under this name."""
    return (f"{MADE}!" if may_raise(form) else MADE, form[1], name)
