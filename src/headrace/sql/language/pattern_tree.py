"""Patterns as a typed tree: PATTERN and SEQUENCE of events, and MATCH_RECOGNIZE over rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from headrace.sql.language.script import Span

if TYPE_CHECKING:
    from headrace.sql.language.tree import Derived, Expression, Item, Name, Reference, SortKey

SkipTo = Literal["past last row", "to next row", "to first", "to last"]
MatchRows = Literal["one", "all"]


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How often: at least, at most (None: without a limit), and as many or as few as possible."""

    least: int
    most: int | None
    is_greedy: bool = True


@dataclass(frozen=True, slots=True)
class EventStep:
    """`name = stream[condition]{2,5}`."""

    name: Name | None
    stream: Name
    condition: Expression | None
    quantifier: Quantifier | None


@dataclass(frozen=True, slots=True)
class AbsenceStep:
    """`NOT stream[condition] FOR 10 SECONDS`; without a duration it holds up to the step beside it."""

    stream: Name
    condition: Expression | None
    duration: str | None


@dataclass(frozen=True, slots=True)
class EveryStep:
    """`EVERY step`: begins anew each time."""

    step: PatternStep


@dataclass(frozen=True, slots=True)
class LogicalStep:
    """Steps in any order: all of them, or one of them."""

    word: Literal["and", "or"]
    steps: tuple[PatternStep, ...]


@dataclass(frozen=True, slots=True)
class NextSteps:
    """`a -> b -> c`."""

    steps: tuple[PatternStep, ...]


PatternStep: TypeAlias = EventStep | AbsenceStep | EveryStep | LogicalStep | NextSteps


@dataclass(frozen=True, slots=True)
class PatternSource:
    """`PATTERN (…) WITHIN 10 MINUTES PARTITION BY card`; in a SEQUENCE nothing may stand between two steps."""

    is_strict: bool
    step: PatternStep
    within: str | None
    partition: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class RowVariable:
    name: Name


@dataclass(frozen=True, slots=True)
class RowAnchor:
    """The begin (^) or the end ($) of the partition."""

    sign: Literal["^", "$"]


@dataclass(frozen=True, slots=True)
class RowRepeat:
    pattern: RowPattern
    quantifier: Quantifier


@dataclass(frozen=True, slots=True)
class RowExclusion:
    """`{- pattern -}`: matched, and left out of ALL ROWS PER MATCH."""

    pattern: RowPattern


@dataclass(frozen=True, slots=True)
class RowParts:
    """Patterns one after the other, one of them, or all in any order."""

    word: Literal["then", "or", "permute"]
    parts: tuple[RowPattern, ...]


RowPattern: TypeAlias = RowVariable | RowAnchor | RowRepeat | RowExclusion | RowParts


@dataclass(frozen=True, slots=True)
class Skip:
    """Where the search goes on after a match; `variable` for `to first` and `to last`."""

    to: SkipTo
    variable: Name | None = None


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    source: Reference | Derived
    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    measures: tuple[Item, ...]
    rows: MatchRows
    skip: Skip
    pattern: RowPattern
    within: str | None
    subsets: tuple[tuple[Name, tuple[Name, ...]], ...]
    defines: tuple[tuple[Name, Expression], ...]
    alias: Name | None
    span: Span = field(compare=False)
