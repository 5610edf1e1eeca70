"""Random trees of the whole language, for property tests (needs hypothesis)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, get_args

from hypothesis import strategies as st

from headrace.graph.document import Json
from headrace.sql.language import pattern_tree as patterns
from headrace.sql.language import statement_tree as statements
from headrace.sql.language import tree
from headrace.sql.language.cursor import Cursor
from headrace.sql.language.expression_parser import read_expression
from headrace.sql.language.script import Span, read_script
from headrace.sql.language.window_kinds import WINDOW_KINDS, Parameter

_NOWHERE = Span(0, 1)
_WRITTEN = (
    "price", "`we ird`", "t.price", "price > 100 AND NOT ok", "CASE WHEN a THEN 1 ELSE 2 END", "cast(a AS BIGINT)",
    "count(*)", "sum(x) FILTER (WHERE y)", "e1[0].price", "e1[last].price", "a IS DISTINCT FROM b", "'it''s'",
    "INTERVAL '5' SECOND", "HEADER('trace')", "x BETWEEN 1 AND 2", "map['k']", "transform(xs, x -> x + 1)", "a::INT",
    "x IN (1, 2)", "extract(YEAR FROM ts)", "-1.5", "price  *  2 /* as written */ + 1",
)  # fmt: skip
_DURATIONS = ("1 second", "1500 milliseconds", "1 minute", "90 seconds", "2 hours", "30 days")
_NAMES = (
    "t",
    "trades",
    "alerts",
    "Zone_2",
    "we ird",
    "back`quote",
    "straße",
    "select",
    "emit",
    "window",
    "price",
    "ts",
)

names = st.builds(tree.Name, st.sampled_from(_NAMES), st.just(_NOWHERE))
durations = st.sampled_from(_DURATIONS)
_flags = st.booleans()
_counts = st.integers(1, 999)
_begins = st.sampled_from(("latest", "last-commit", "earliest"))
_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8)


def _built(kind: Callable[..., Any], *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A node from its parts in order; its span, where it has one, is nowhere."""
    has_span = any(field.name == "span" for field in fields(kind))  # type: ignore[arg-type]
    return st.builds(kind, *parts, *([st.just(_NOWHERE)] if has_span else []))


def _several(part: st.SearchStrategy[Any], least: int = 0, most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(part, min_size=least, max_size=most).map(tuple)


def _maybe(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | part


@cache
def _read(text: str) -> tree.Expression:
    script = read_script(text)
    return read_expression(Cursor(script, 0, len(script.tokens)))


plain_expressions = st.sampled_from(_WRITTEN).map(_read)


def _with_inner(before: str, inner: tree.Query | tree.Over, behind: str) -> tree.Expression:
    """An expression around a part of ours; its tree is no part of equality."""
    return tree.Expression(before, _NOWHERE, _read("1").tree, (before, inner, behind))


_sort_keys = _built(tree.SortKey, plain_expressions, _flags, st.sampled_from((None, "first", "last")))
_bounds = _built(tree.Bound, st.sampled_from(("unbounded preceding", "current row", "unbounded following"))) | _built(
    tree.Bound, st.sampled_from(("preceding", "following")), st.sampled_from(("5", "INTERVAL '1' HOUR")).map(_read)
)
_frames = _built(tree.Frame, st.sampled_from(("rows", "range")), _bounds, _maybe(_bounds))
overs = _built(
    tree.Over, _several(plain_expressions), _several(_sort_keys), _maybe(_frames), _maybe(_counts), _maybe(durations)
)


def expressions() -> st.SearchStrategy[tree.Expression]:
    """As people write them, with OVER clauses and subqueries inside."""
    over = st.builds(_with_inner, st.just("row_number() OVER ("), overs, st.sampled_from((")", ") = 1")))
    before = st.sampled_from(("(", "x IN (", "EXISTS (", "NOT EXISTS (", "1 + ("))
    query = st.builds(_with_inner, before, st.deferred(lambda: queries), st.just(")"))
    return st.one_of(plain_expressions, plain_expressions, plain_expressions, over, query)


_items = _built(tree.Item, expressions(), _maybe(names), _flags, st.just(""))
_values: st.SearchStrategy[Json] = st.one_of(
    _texts, st.integers(-999, 999), st.booleans(), st.none(), st.sampled_from((0.5, -1.25))
)
_options = _built(tree.Option, names, _values, _flags)
_references = st.builds(
    tree.Reference, names, st.sampled_from(("out", "out", "late")), _maybe(names), _maybe(plain_expressions)
)


@st.composite
def windows(draw: st.DrawFn) -> tree.Window:
    kind = draw(st.sampled_from(list(WINDOW_KINDS.values())))
    time = None if kind.time == "cannot" else draw(names if kind.time == "must" else _maybe(names))
    settings = tuple(
        (parameter.name, draw(_window_value(parameter)))
        for parameter in kind.parameters
        if not parameter.is_optional or draw(_flags)
    )
    return tree.Window(kind.name, time, settings, _NOWHERE)


def _window_value(parameter: Parameter) -> st.SearchStrategy[tree.WindowValue]:
    values: dict[str, st.SearchStrategy[Any]] = {
        "duration": durations,
        "count": _counts,
        "number": st.sampled_from((0.1, 0.25, 1)),
        "columns": _several(names, 1),
        "sort keys": _several(_sort_keys, 1),
        "text": _texts,
    }
    return values[parameter.type]


_quantifiers = st.builds(
    lambda least, more, greedy: patterns.Quantifier(least, None if more is None else least + more, greedy),
    st.integers(1, 3), _maybe(st.integers(0, 3)), st.just(value=True),
)  # fmt: skip
_events = _built(patterns.EventStep, _maybe(names), names, _maybe(expressions()), _maybe(_quantifiers))
_absences = _built(patterns.AbsenceStep, names, _maybe(plain_expressions), _maybe(durations))
_steps: st.SearchStrategy[patterns.PatternStep] = st.recursive(
    _events | _absences,
    lambda inner: (
        _built(patterns.EveryStep, inner)
        | _built(patterns.LogicalStep, st.sampled_from(("and", "or")), _several(inner, 2, 3))
        | _built(patterns.NextSteps, _several(inner, 2, 3))
    ),
    max_leaves=4,
)
_patterns = _built(patterns.PatternSource, _flags, _steps, _maybe(durations), _several(plain_expressions))
_greedy_or_not = st.builds(lambda one, greedy: patterns.Quantifier(one.least, one.most, greedy), _quantifiers, _flags)
_rows: st.SearchStrategy[patterns.RowPattern] = st.recursive(
    _built(patterns.RowVariable, names) | _built(patterns.RowAnchor, st.sampled_from("^$")),
    lambda inner: (
        _built(patterns.RowRepeat, inner, _greedy_or_not)
        | _built(patterns.RowExclusion, inner)
        | _built(patterns.RowParts, st.sampled_from(("then", "or", "permute")), _several(inner, 2, 3))
    ),
    max_leaves=4,
)
_skips = _built(patterns.Skip, st.sampled_from(("past last row", "to next row"))) | _built(
    patterns.Skip, st.sampled_from(("to first", "to last")), names
)
_measures = _built(tree.Item, plain_expressions, names, st.just(value=False), st.just(""))
_derived = _built(tree.Derived, st.deferred(lambda: queries), _maybe(names))
_matches = _built(
    patterns.MatchRecognize, _references | _derived, _several(plain_expressions), _several(_sort_keys),
    _several(_measures), st.sampled_from(("one", "all")), _skips, _rows, _maybe(durations),
    _several(st.tuples(names, _several(names, 1))), _several(st.tuples(names, plain_expressions)), _maybe(names),
)  # fmt: skip
_calls = _built(
    tree.OperatorCall,
    names,
    _several(st.tuples(st.sampled_from(("in", "left")), st.builds(tree.Reference, names))),
    st.lists(_built(tree.Option, names, _values, st.just(value=True)), max_size=2, unique_by=lambda one: one.name).map(
        tuple
    ),
)
_sides = _references | _derived | _built(tree.Windowed, _references | _derived, windows()) | _matches | _patterns
_withins = _built(tree.Within, durations, durations)


@st.composite
def _joins(draw: st.DrawFn) -> tree.Join:
    kind: tree.JoinKind = draw(st.sampled_from(get_args(tree.JoinKind)))
    condition, using = (None, ()) if kind == "cross" else draw(_conditions)
    left = draw(_sides | _joins())
    right, within, retention = draw(_sides), draw(_maybe(_withins)), draw(_maybe(durations))
    return tree.Join(kind, draw(_flags), left, right, condition, using, within, retention, _NOWHERE)


_conditions = st.tuples(expressions(), st.just(())) | st.tuples(st.none(), _several(names, 1))
_emits = _built(tree.EmitClause, st.sampled_from(("final", "changes")), _maybe(durations))
_which = st.sampled_from(("all", "first", "last", "snapshot"))
_outputs = _built(tree.OutputRate, _which, _counts, st.none()) | _built(tree.OutputRate, _which, st.none(), durations)
_selects = _built(
    tree.Select, _flags, _several(_items, 1), _references | _calls | _derived | _joins() | _patterns | _matches,
    _maybe(expressions()), _several(plain_expressions), _maybe(windows()), _maybe(expressions()),
    _maybe(expressions()), _maybe(_emits), _maybe(_outputs),
)  # fmt: skip
_unions = _built(tree.Union, _flags, _selects)
queries: st.SearchStrategy[tree.Query] = _built(
    tree.Query, _several(_built(tree.CommonTable, names, st.deferred(lambda: queries)), 0, 1), _selects,
    _several(_unions, 0, 1), _several(_sort_keys, 0, 1), _maybe(_counts),
)  # fmt: skip

_types = st.sampled_from(("STRING", "DECIMAL(10,2)", "ARRAY<INT>", "STRUCT<a:INT,b:MAP<STRING,BIGINT>>"))
_columns = _built(statements.ColumnDefinition, names, _types, st.none(), _flags) | _built(
    statements.ColumnDefinition, names, st.none(), _maybe(plain_expressions), st.just(value=False)
)
_unique_columns = st.lists(_columns, max_size=3, unique_by=lambda one: one.name.text.lower()).map(tuple)
_unique_options = st.lists(_options, max_size=2, unique_by=lambda one: one.name.text).map(tuple)
_watermarks = _built(statements.Watermark, names, _maybe(durations), _maybe(durations))
_shows = _built(
    statements.Show, st.sampled_from(("streams", "tables", "topics", "functions", "pipelines")), st.none()
) | _built(statements.Show, st.sampled_from(("partitions", "schema")), names)
_actions = _built(
    statements.PipelineAction, st.sampled_from(("start", "stop", "pause", "resume")), names, st.none(), st.none()
) | _built(statements.PipelineAction, st.sampled_from(("deploy", "rollback")), names, _maybe(_counts), _maybe(_begins))
_triggers = st.one_of(
    _built(statements.CreateTrigger, names, durations, st.none()),
    _built(statements.CreateTrigger, names, st.none(), _texts),
    _built(statements.CreateTrigger, names, st.none(), st.none()),
)
_simple = st.one_of(
    _built(statements.Create, _flags, names, _unique_columns, _maybe(_watermarks), _unique_options),
    _built(statements.CreateAs, _flags, names, _unique_options, queries),
    _built(statements.CreateView, names, queries),
    _triggers,
    _built(statements.CreateFunction, names, st.builds(tree.Name, _texts, st.just(_NOWHERE))),
    _built(statements.Insert, names, st.sampled_from((None, "all", "current", "expired")), queries),
    _built(
        statements.Update,
        names,
        _several(st.tuples(names, expressions()), 1),
        _maybe(st.builds(tree.Reference, names)),
        expressions(),
    ),
    _built(
        statements.Delete,
        names,
        _maybe(st.builds(tree.Reference, names, st.just("out"), _maybe(names))),
        expressions(),
    ),
    _built(statements.InsertValues, names, _several(names), _several(_several(expressions(), 1), 1)),
    _built(statements.Upsert, names, queries, _maybe(expressions())),
    _built(statements.Ask, queries),
    _shows,
    _built(statements.Describe, names),
    _built(statements.Drop, names),
    _actions,
)
_partitions = _built(
    statements.Partition, _several(_built(statements.PartitionKey, plain_expressions, names), 1), _several(_simple)
)
_explains = _built(statements.Explain, st.sampled_from(("graph", "plan", "change")), names | _simple)
any_statements: st.SearchStrategy[statements.Statement] = _simple | _partitions | _explains
_annotations = _built(statements.Annotation, st.sampled_from(("name", "metric", "description")), _texts)
entries = _built(statements.Entry, any_statements, _several(_annotations))
