"""What is derived of an expression, and the walk over its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from headrace.graph.schema import Schema
from headrace.operators.expression_types import type_of
from headrace.operators.expressions import Expression, sql
from headrace.operators.functions import python_function
from headrace.operators.row_failures.safe_functions import SAFE_CALLS, SAFE_NAMES

_SPARK: Final = Dialect.get_or_raise("spark")
# They look at their second operand first.
_BACKWARDS: Final = (exp.Div, exp.Mod, exp.IntDiv)
_VALUE_CHARACTERS_MAX: Final = 100


class NotDerivable(Exception):
    """Raised for an expression of which nobody can say for which rows it fails; with the part at fault."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A way to fail: a condition that is true or false for every row, and the reason as an expression of text."""

    condition: str
    reason: str

    def only_if(self, *conditions: str) -> Failure:
        return replace(self, condition=all_of((*conditions, self.condition)))


@dataclass(frozen=True, slots=True)
class Derived:
    """`safe` gives what the expression does for rows that it does not fail for, and never fails."""

    safe: str
    failures: tuple[Failure, ...] = ()
    is_known: bool = False
    """Whether it is never null."""

    @property
    def failed(self) -> str:
        """True for rows that the expression fails for, else false."""
        return " OR ".join(f"({one.condition})" for one in self.failures) or "false"


class Derivation:
    def __init__(self, schema: Schema, texts: Iterable[str], rules: Mapping[type[exp.Expr], Rule]) -> None:
        """`texts` are those that the expression is written with."""
        self._schema = schema
        self._rules = rules
        self._texts = tuple(dict.fromkeys(texts))

    def of(self, tree: exp.Expr) -> Derived:
        if isinstance(tree, exp.Paren):
            inner = self.of(tree.this)
            return replace(inner, safe=f"({inner.safe})")
        rule = self._rules.get(type(tree))
        if rule is not None:
            return rule(self, tree)
        if _may_be_called(tree):
            return self.generic(tree)
        raise NotDerivable(shown(tree))

    def generic(self, tree: exp.Expr) -> Derived:
        """What never fails itself: all its parts are looked at."""
        failures: list[Failure] = []
        copy = tree.copy()
        for own, part in zip(list(_parts(tree)), list(_parts(copy)), strict=True):
            found = self.of(own)
            failures += found.failures
            if found.failures:
                part.replace(exp.Var(this=f"({found.safe})"))
        return Derived(sql(copy), tuple(failures))

    def type(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.RegexpSplit | exp.Array):
            return "ARRAY"
        return type_of(Expression("", tree), self._schema)

    def strict(self, parts: Sequence[exp.Expr]) -> tuple[list[Derived], list[Failure]]:
        """In this order, and not beyond one that is null."""
        found: list[Derived] = []
        failures: list[Failure] = []
        for part in parts:
            one = self.of(part)
            failures += [failure.only_if(*are_there(found)) for failure in one.failures]
            found.append(one)
        return found, failures

    def pattern(self, tree: exp.Expr) -> str:
        """A pattern of times as it is written: the parser has words of its own, in which several are the same."""
        format_ = tree.args.get("format")
        found = [text for text in self._texts if _SPARK.format_time(exp.Literal.string(text)) == format_]
        if len(found) != 1:
            raise NotDerivable(shown(tree))
        return sql(exp.Literal.string(found[0]))

    def pair(self, tree: exp.Expr) -> tuple[Derived, Derived, list[Failure]]:
        """The operands of a binary operation, as they are written."""
        if isinstance(tree, _BACKWARDS):
            (right, left), failures = self.strict([tree.expression, tree.this])
        else:
            (left, right), failures = self.strict([tree.this, tree.expression])
        return left, right, failures


def _parts(tree: exp.Expr) -> Iterable[exp.Expr]:
    """What it is computed of, directly."""
    for part in tree.iter_expressions():
        if isinstance(part, exp.Condition | exp.Func | exp.Paren) and not isinstance(part, exp.Literal | exp.Null):
            yield part
        elif isinstance(part, exp.Alias | exp.PropertyEQ | exp.Ordered):
            yield from _parts(part)


def _may_be_called(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Anonymous):
        return tree.name.lower() in SAFE_NAMES and python_function(tree) is None
    return isinstance(tree, SAFE_CALLS)


def shown(tree: exp.Expr) -> str:
    text = sql(tree)
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[:_VALUE_CHARACTERS_MAX]}…"


def said(text: str) -> str:
    """As a literal of SQL."""
    return sql(exp.Literal.string(text.replace("'", '"')))


def value_of(found: Derived) -> str:
    return f"substring(CAST({found.safe} AS STRING), 1, {_VALUE_CHARACTERS_MAX})"


def are_there(found: Iterable[Derived]) -> tuple[str, ...]:
    """Conditions that hold where none of them is null."""
    return tuple(f"({one.safe}) IS NOT NULL" for one in found if not one.is_known)


def null_of(operands: Sequence[Derived], safe: str, reason: str) -> Failure:
    """The operands are there, and the result is not."""
    return Failure(all_of((*are_there(operands), f"({safe}) IS NULL")), reason)


def all_of(conditions: Iterable[str]) -> str:
    return " AND ".join(f"({condition})" for condition in dict.fromkeys(conditions))


Rule: TypeAlias = Callable[[Derivation, exp.Expr], Derived]
