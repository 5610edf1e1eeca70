"""A SELECT over tables, in the language of pipelines, and what it answers.

The statement is read once, typed, and computed with the forms that pipelines use; its rows pass as Arrow columns.
What these cannot compute just as Spark does is refused by name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidInput
from headrace.operators.columnar import Form
from headrace.operators.columnar.types import NotExact, common_type
from headrace.operators.columnar.values import Values
from headrace.tables.aggregates import NAMES as AGGREGATES
from headrace.tables.aggregates import aggregate, distinct
from headrace.tables.definition import Table
from headrace.tables.expressions import Reading, TablePlanner, converted, literal_of, refuse_unknown_functions
from headrace.tables.frames import Field, Frame, group_numbers, in_order, joined_batches, normalised, pairs

ROWS_MAX: Final = 10_000
SECONDS_MAX: Final = 10.0
# What the rows of one question may take, after the columns and the rows that it does not need are left out.
BYTES_MAX: Final = 1 << 30
SUBQUERY_VALUES_MAX: Final = 10_000

_SPARK: Final = Dialect.get_or_raise("spark")
# Words of a statement that may stand before a bracket.
_WORDS: Final = frozenset({
    "and", "or", "not", "in", "when", "then", "else", "case", "between", "like", "is", "as", "from", "where", "on",
    "join", "select", "by", "distinct", "exists", "union", "all", "having", "values", "interval", "decimal", "numeric",
    "dec", "limit", "with", "timestamp", "date", "end",
})  # fmt: skip
_CLAUSES: Final = frozenset({
    "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct", "with_",
    "this", "expression",
})  # fmt: skip
_ESCAPES: Final = frozenset("'\"\\ntr")
_JOINS: Final = ("", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
_PIPELINE: Final = "compute it in a pipeline: CREATE TABLE … AS SELECT …"


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def as_objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of a table: columns by their names in lower case, None for all; `keys`: only rows of these keys,
    each the values of all key columns."""

    table: Table
    columns: frozenset[str] | None
    keys: tuple[tuple[Any, ...], ...] | None = None


# Gives the rows of a table with its columns, those not wanted left out.
Scan = Callable[[Wanted], Iterable[pa.RecordBatch]]


def answered(sql: str, find: Callable[[str], Table], scan: Scan) -> Answer:
    """`find` gives the table of a name, or raises. Raises InvalidInput for what tables cannot answer."""
    tree = read_statement(sql)
    if not any(tree.find_all(exp.Table)):
        raise InvalidInput("a question reads a table", hint="SELECT … FROM table WHERE …")
    frame = Asking(sql, find, scan).query(tree)
    if len(frame) > ROWS_MAX:
        raise InvalidInput(f"the answer has more than {ROWS_MAX} rows", hint="add LIMIT, or a narrower WHERE")
    columns = [plain_values(column) for column in frame.rows.columns]
    return Answer(tuple(field.name for field in frame.fields), tuple(zip(*columns, strict=True)))


def read_statement(sql: str) -> exp.Expr:
    """Raises InvalidInput for what cannot be read, and for functions that tables do not have."""
    try:
        tokens = list(_SPARK.tokenize(with_plain_quotes(sql)))
        tree = sqlglot.parse_one(with_plain_quotes(sql), read="spark")
    except sqlglot.errors.SqlglotError as error:
        raise InvalidInput(f"tables cannot answer this: {error}") from error
    parts = {part.alias.lower() for part in tree.find_all(exp.CTE)}
    refuse_unknown_functions(_called(tokens) - _WORDS - AGGREGATES - parts)
    return tree


def with_plain_quotes(sql: str) -> str:
    """With a quote that is written twice as one behind a backslash: two quotes are one to Spark, none to the parser.

    Raises InvalidInput for other escapes than the usual ones.
    """
    made, last = "", 0
    tokens = [token for token in _SPARK.tokenize(sql) if token.token_type == TokenType.STRING]
    for one, other in pairwise(tokens):
        if one.end + 1 == other.start:
            made += sql[last : one.end] + "\\'"
            last = other.start + 1
    for token in tokens:
        raw = sql[token.start : token.end + 1]
        for place in range(len(raw) - 1):
            if raw[place] == "\\" and raw[place - 1] != "\\" and raw[place + 1] not in _ESCAPES:
                valid = [f"\\{character}" for character in sorted(_ESCAPES)]
                raise InvalidInput(f"tables do not know the escape {raw[place : place + 2]!r} in a text", valid=valid)
    return made + sql[last:]


def _called(tokens: Sequence[Token]) -> set[str]:
    words = {token.text.lower() for token, behind in pairwise(tokens) if behind.token_type == TokenType.L_PAREN}
    return {word for word in words if word.isidentifier()}


class Asking:
    """One statement. Reads rows when it needs them."""

    def __init__(self, sql: str, find: Callable[[str], Table], scan: Scan) -> None:
        self._sql = sql
        self._find = find
        self._scan = scan
        self._deadline_s = time.monotonic() + SECONDS_MAX
        self._parts: dict[str, Frame] = {}
        self._names: frozenset[str] | None = None

    def query(self, tree: exp.Expr) -> Frame:
        """Raises InvalidInput, and NotFound for a table that is not there."""
        if self._names is None:
            self._names = _column_names(tree)
        for part in tree.args["with_"].expressions if tree.args.get("with_") else ():
            if part.args["alias"].columns:
                raise InvalidInput("WITH name (columns) is not supported", hint="name the columns in its SELECT")
            self._parts[part.alias.lower()] = self.query(part.this)
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        if isinstance(tree, exp.Union):
            return self._union(tree)
        if not isinstance(tree, exp.Select):
            raise InvalidInput(f"tables have no {type(tree).__name__.upper()}", hint=_PIPELINE)
        _refuse_clauses(tree)
        return self._select(tree)

    def planner(
        self, frame: Frame, known: Mapping[str, Form] | None = None, names: Mapping[str, Form] | None = None
    ) -> TablePlanner:
        """For expressions over a frame. `known` are expressions that have forms as a whole: then no other column has.
        `names` are those of columns to the left in a SELECT."""

        def column(tree: exp.Column) -> Form:
            if known is not None:
                frame.find(tree)
                message = f"the column {tree.name!r} stands beside aggregates, and is not in GROUP BY"
                raise InvalidInput(message, hint="group by it, or aggregate it: max(…)")
            places = frame.places_of(tree)
            if names and not places and not tree.table and tree.name.lower() in names:
                return names[tree.name.lower()]
            return frame.find(tree)

        return TablePlanner(
            Reading(self._sql, column, self._values, self._has_rows, lambda tree: _key(tree, frame), known or {})
        )

    def check_time(self) -> None:
        if time.monotonic() > self._deadline_s:
            raise InvalidInput(f"the answer takes longer than {SECONDS_MAX:.0f} s", hint="ask by key, or for less")

    def _values(self, tree: exp.Expr) -> tuple[str, list[Form]]:
        frame = self.query(tree)
        if len(frame.fields) != 1:
            raise InvalidInput(f"a subquery of {len(frame.fields)} columns where one is due")
        if len(frame) > SUBQUERY_VALUES_MAX:
            raise InvalidInput(f"a subquery of more than {SUBQUERY_VALUES_MAX} rows", hint="write a JOIN")
        type_ = frame.fields[0].type
        return type_, [literal_of(type_, value) for value in frame.rows.column(0).to_pylist()]

    def _has_rows(self, tree: exp.Expr) -> bool:
        return len(self.query(tree)) > 0

    def _union(self, tree: exp.Union) -> Frame:
        sides = [self.query(tree.this), self.query(tree.expression)]
        if len(sides[0].fields) != len(sides[1].fields):
            raise InvalidInput("UNION of queries with different numbers of columns")
        columns, fields = [], []
        for place, field in enumerate(sides[0].fields):
            type_ = _common(field.type, sides[1].fields[place].type)
            both = pa.concat_arrays([_as_type(side, place, type_) for side in sides])
            columns.append(normalised(both) if tree.args.get("distinct") else both)
            fields.append(replace(field, type=type_, qualifier=None))
        frame = Frame.of(fields, columns, sum(map(len, sides)))
        if tree.args.get("distinct"):
            frame = frame.take(group_numbers(columns, len(frame))[1])
        return self._ordered(tree, frame, frame, self.planner(frame), [])

    def _select(self, tree: exp.Select) -> Frame:
        frame = self._from(tree)
        self.check_time()
        items = _items(tree, frame)
        grouping = _Grouping(self, tree, frame, items)
        planner = self.planner(frame)
        if grouping.is_needed:
            frame, known = grouping.grouped()
            planner = grouping.planner(known)
        names: dict[str, Form] = {}
        forms: list[Form] = []
        for name, item in items:
            form = planner.typed(item)
            forms.append(form)
            if isinstance(item.parent, exp.Alias):
                names.setdefault(name.lower(), form)
            if not grouping.is_needed:
                planner = self.planner(grouping.source, names=names)
        having = tree.args.get("having")
        if having is not None:
            if not grouping.is_needed:
                raise InvalidInput("HAVING without GROUP BY or an aggregate", hint="write WHERE")
            frame = frame.where(grouping.planner(known, names).condition(having.this))
        values = Values(frame.rows)
        columns = [values.array(form) for form in forms]
        if tree.args.get("distinct"):
            columns = [normalised(column) for column in columns]
        fields = [Field(None, name, form[1]) for (name, _), form in zip(items, forms, strict=True)]
        output = Frame.of(fields, columns, len(frame))
        if tree.args.get("distinct"):
            kept = group_numbers(columns, len(frame))[1]
            frame, output = frame.take(kept), output.take(kept)
        ordering = grouping.planner(known, names) if grouping.is_needed else planner
        return self._ordered(tree, output, frame, ordering, forms)

    def _ordered(
        self, tree: exp.Query, output: Frame, frame: Frame, planner: TablePlanner, forms: Sequence[Form]
    ) -> Frame:
        """ORDER BY, LIMIT and OFFSET. Names of the output come before those of the rows behind it."""
        order = tree.args.get("order")
        self.check_time()
        if order is not None:
            keys = []
            for item in order.expressions:
                column = _output_column(item.this, output)
                if column is None:
                    column = Values(frame.rows).array(planner.typed(item.this))
                keys.append((column, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
            output = output.take(in_order(keys, len(output)))
        start = _whole(tree.args.get("offset"), 0)
        count = _whole(tree.args.get("limit"), len(output))
        return replace(output, rows=output.rows.slice(start, count))

    def _from(self, tree: exp.Select) -> Frame:
        source, where = tree.args.get("from_"), tree.args.get("where")
        if source is None:
            frame = Frame.of((), (), 1)
        else:
            joins = tree.args.get("joins") or []
            frame = self._relation(source.this, None if joins or where is None else where.this)
            for join in joins:
                frame = self._joined(frame, join)
                self.check_time()
        return frame if where is None else frame.where(self.planner(frame).condition(where.this))

    def _relation(self, tree: exp.Expr, condition: exp.Expr | None = None) -> Frame:
        """`condition` is what alone decides on its rows."""
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this).called(tree.alias)
        if not isinstance(tree, exp.Table) or not isinstance(tree.this, exp.Identifier):
            raise InvalidInput(f"tables cannot read {tree.sql(dialect='spark')}", hint=_PIPELINE)
        if tree.name.lower() in self._parts:
            return self._parts[tree.name.lower()].called(tree.alias_or_name)
        return self.read(self._find(tree.name), tree.alias_or_name, condition)

    def read(self, table: Table, name: str, condition: exp.Expr | None) -> Frame:
        """The rows of a table, at most those for which a condition holds where that saves memory."""
        keys = None if condition is None else key_values(table, name, condition)
        batches: list[pa.RecordBatch] = []
        fields: tuple[Field, ...] = ()
        size = 0
        for batch in self._scan(Wanted(table, self._names, keys)):
            self.check_time()
            fields = _fields(table, name, batch)
            frame = Frame.of(fields, batch.columns, batch.num_rows)
            if condition is not None and not any(condition.find_all(exp.Query)):
                frame = frame.where(self.planner(frame).condition(condition))
            size += frame.rows.nbytes
            if size > BYTES_MAX:
                raise InvalidInput(f"the rows take more than {BYTES_MAX >> 20} MB", hint="name fewer columns, or WHERE")
            batches.append(frame.rows)
        return Frame(fields, joined_batches(batches))

    def _joined(self, left: Frame, join: exp.Join) -> Frame:
        kind = (join.args.get("side") or "", join.args.get("kind") or "")
        shown = next((word for word in reversed(kind) if word not in ("", "OUTER")), "")
        if shown not in _JOINS or join.args.get("using") or join.args.get("method"):
            raise InvalidInput(f"tables cannot {join.sql(dialect='spark')}", hint="write JOIN … ON a.x = b.x")
        right = self._relation(join.this)
        on = join.args.get("on")
        if on is None and shown not in ("", "CROSS", "INNER"):
            raise InvalidInput(f"{shown} JOIN without ON")
        whole = Frame((*left.fields, *right.fields), _beside(left.rows, right.rows))
        keys, rest = ([], []) if on is None else self._keys(on, left, right, whole)
        lefts, rights = pairs([key[0] for key in keys], [key[1] for key in keys], (len(left), len(right)))
        if rest:
            made = left.take(lefts).beside(right.take(rights))
            held = np.ones(len(made), bool)
            for part in rest:
                condition = self.planner(made).condition(part)
                held &= Values(made.rows).array(condition).fill_null(False).to_numpy(zero_copy_only=False)
            lefts, rights = lefts[held], rights[held]
        if shown in ("SEMI", "ANTI"):
            has = np.isin(np.arange(len(left)), lefts)
            return left.take(np.flatnonzero(has if shown == "SEMI" else ~has))
        if shown in ("LEFT", "FULL"):
            alone = np.setdiff1d(np.arange(len(left)), lefts)
            lefts, rights = np.concatenate([lefts, alone]), np.concatenate([rights, np.full(len(alone), -1)])
        if shown in ("RIGHT", "FULL"):
            alone = np.setdiff1d(np.arange(len(right)), rights)
            lefts, rights = np.concatenate([lefts, np.full(len(alone), -1)]), np.concatenate([rights, alone])
        return left.take(lefts.astype(np.int64)).beside(right.take(rights.astype(np.int64)))

    def _keys(
        self, on: exp.Expr, left: Frame, right: Frame, whole: Frame
    ) -> tuple[list[tuple[Any, Any]], list[exp.Expr]]:
        """Equalities between a value of the left and one of the right, and all other parts of the condition."""
        keys: list[tuple[Any, Any]] = []
        rest: list[exp.Expr] = []
        for part in on.flatten() if isinstance(on, exp.And) else [on]:
            sides = self._sides(part.unnest(), left, right, whole)
            if sides is None:
                self.planner(whole).condition(part)
                rest.append(part)
            else:
                keys.append(sides)
        return keys, rest

    def _sides(self, part: exp.Expr, left: Frame, right: Frame, whole: Frame) -> tuple[Any, Any] | None:
        if not isinstance(part, exp.EQ):
            return None
        form = self.planner(whole).condition(part)
        if form[0] != "=":
            return None
        for one, other in ((part.this, part.expression), (part.expression, part.this)):
            if _is_of(one, left, whole) and _is_of(other, right, whole):
                forms = self.planner(left).typed(one), self.planner(right).typed(other)
                type_ = _common(forms[0][1], forms[1][1])
                left_form, right_form = (converted(side, type_) for side in forms)
                return Values(left.rows).array(left_form), Values(right.rows).array(right_form)
        return None


class _Grouping:
    """GROUP BY and aggregates of a SELECT."""

    def __init__(self, asking: Asking, tree: exp.Select, frame: Frame, items: Sequence[tuple[str, exp.Expr]]) -> None:
        group = tree.args.get("group")
        if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
            raise InvalidInput(f"tables cannot {group.sql(dialect='spark')}", hint="write GROUP BY column, …")
        self.source = frame
        self._asking = asking
        aliases = {name.lower(): item for name, item in items}
        self._groups = [_meant(part, items, aliases, frame) for part in (group.expressions if group else ())]
        places = [item for _, item in items]
        places += [part.this for part in (tree.args.get("having"),) if part is not None]
        places += tree.args["order"].expressions if tree.args.get("order") else []
        self._aggregates = list({_key(one, frame): one for place in places for one in _aggregates(place)}.values())
        self.is_needed = group is not None or bool(self._aggregates)

    def grouped(self) -> tuple[Frame, dict[str, Form]]:
        """One row for each group, and the forms of the expressions that are known of it."""
        planner, values = self._asking.planner(self.source), Values(self.source.rows)
        keys = [planner.typed(group) for group in self._groups]
        columns = [values.array(key) for key in keys]
        count = len(self.source)
        if self._groups:
            numbers, firsts = group_numbers(columns, count)
            group_count = len(firsts)
        else:
            numbers, firsts, group_count = np.zeros(count, np.int64), np.zeros(0, np.int64), 1
        made = [normalised(column.take(firsts)) for column in columns]
        types = [key[1] for key in keys]
        for tree in self._aggregates:
            type_, column = self._aggregated(tree, planner, values, (numbers, group_count))
            types.append(type_)
            made.append(column)
        fields = [Field(None, f"#{place}", type_) for place, type_ in enumerate(types)]
        frame = Frame.of(fields, made, group_count)
        known = [_key(tree, self.source) for tree in (*self._groups, *self._aggregates)]
        return frame, {key: frame.form(place) for place, key in reversed(list(enumerate(known)))}

    def planner(self, known: dict[str, Form], names: Mapping[str, Form] | None = None) -> TablePlanner:
        more = {} if names is None else {_key(exp.column(name), self.source): form for name, form in names.items()}
        return self._asking.planner(self.source, {**more, **known})

    def _aggregated(self, tree: exp.Expr, planner: TablePlanner, values: Values, groups: Any) -> tuple[str, Any]:
        argument = tree.expressions[0] if isinstance(tree, exp.Anonymous) else tree.this
        is_distinct = isinstance(argument, exp.Distinct)
        if tree.expressions[1:] or (is_distinct and len(argument.expressions) != 1):
            raise InvalidInput(f"{tree.sql(dialect='spark')} of several values", hint="aggregate one")
        if is_distinct:
            (argument,) = argument.expressions
        if any(_aggregates(argument)):
            raise InvalidInput(f"{tree.sql(dialect='spark')}: an aggregate of an aggregate", hint="use a subquery")
        form = None if isinstance(argument, exp.Star) else planner.typed(argument)
        type_, run = aggregate(tree, form)
        column = values.every() if form is None else values.array(form)
        if is_distinct:
            column, groups = distinct(column, groups)
        return type_, run(column, groups)


def _aggregates(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Those of this query, the outermost ones."""
    if isinstance(tree, exp.Query | exp.Subquery):
        return
    if isinstance(tree, exp.AggFunc) or (isinstance(tree, exp.Anonymous) and tree.name.lower() in AGGREGATES):
        if tree.name and isinstance(tree, exp.AggFunc) and type(tree) not in _AGGREGATE_TREES:
            raise InvalidInput(f"tables have no {tree.sql(dialect='spark')}", valid=sorted(AGGREGATES), hint=_PIPELINE)
        yield tree
        return
    for child in tree.iter_expressions():
        yield from _aggregates(child)


_AGGREGATE_TREES: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)


def _key(tree: exp.Expr, frame: Frame) -> str:
    """The same for expressions that mean the same column by other names, or have more brackets."""

    def plain(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Paren):
            inner: exp.Expr = part.this
            return inner
        if isinstance(part, exp.Column):
            places = frame.places_of(part)
            return exp.column(f"#{places[0]}" if len(places) == 1 else part.name.lower())
        return part

    return str(tree.unnest().copy().transform(plain).sql(dialect="spark"))


def _meant(
    part: exp.Expr, items: Sequence[tuple[str, exp.Expr]], aliases: Mapping[str, exp.Expr], frame: Frame
) -> exp.Expr:
    """What a part of GROUP BY stands for: the place of an item, its name, or itself."""
    if isinstance(part, exp.Literal) and not part.is_string:
        place = int(part.name) if part.name.isdigit() else 0
        if not 1 <= place <= len(items):
            raise InvalidInput(f"GROUP BY {part.name}: there are {len(items)} columns")
        return items[place - 1][1]
    if isinstance(part, exp.Column) and not part.table and not frame.places_of(part) and part.name.lower() in aliases:
        return aliases[part.name.lower()]
    return part


def _items(tree: exp.Select, frame: Frame) -> list[tuple[str, exp.Expr]]:
    """(Name, expression) of each column of the answer."""
    found: list[tuple[str, exp.Expr]] = []
    for item in tree.expressions:
        is_star = isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
        if not is_star:
            found.append((item.alias_or_name or item.sql(dialect="spark"), item.unalias()))
            continue
        if any(item.args.get(name) for name in ("except_", "replace", "rename", "except")):
            raise InvalidInput("tables have no * with EXCEPT or REPLACE", hint="name the columns")
        qualifier = item.table.lower() if isinstance(item, exp.Column) else ""
        named = [field for field in frame.fields if qualifier in ("", (field.qualifier or "").lower())]
        if not named:
            raise InvalidInput(f"{item.sql(dialect='spark')}: there is no such table in FROM")
        found += [
            (field.name, exp.column(field.name, table=field.qualifier, quoted=True))
            for field in named
            if not field.is_hidden
        ]
    return found


def _output_column(tree: exp.Expr, output: Frame) -> Any:
    """The column of the answer that a part of ORDER BY stands for: by its place or its name; None for none."""
    if isinstance(tree, exp.Literal) and not tree.is_string:
        place = int(tree.name) if tree.name.isdigit() else 0
        if not 1 <= place <= len(output.fields):
            raise InvalidInput(f"ORDER BY {tree.name}: there are {len(output.fields)} columns")
        return output.rows.column(place - 1)
    if isinstance(tree, exp.Column) and not tree.table:
        places = output.places_of(tree)
        return output.rows.column(places[0]) if len(places) == 1 else None
    return None


def _refuse_clauses(tree: exp.Expr) -> None:
    for name, value in tree.args.items():
        if value and name not in _CLAUSES:
            raise InvalidInput(f"tables have no {name.strip('_').upper()} in a SELECT", hint=_PIPELINE)
    if tree.args.get("distinct") and tree.args["distinct"].args.get("on"):
        raise InvalidInput("tables have no DISTINCT ON", hint="group by these columns")


def _whole(tree: exp.Expr | None, otherwise: int) -> int:
    if tree is None:
        return otherwise
    if not isinstance(tree.expression, exp.Literal) or not tree.expression.name.isdigit():
        raise InvalidInput("LIMIT and OFFSET take a number")
    return int(tree.expression.name)


def _common(one: str, other: str) -> str:
    try:
        return common_type([one, other])
    except NotExact:
        raise InvalidInput(f"{one} and {other} have no type in common", hint="cast one of them") from None


def _as_type(frame: Frame, place: int, type_: str) -> Any:
    return Values(frame.rows).array(converted(frame.form(place), type_))


def _is_of(tree: exp.Expr, frame: Frame, whole: Frame) -> bool:
    """Whether all its columns, and at least one, are of that side."""
    columns = list(tree.find_all(exp.Column))
    if any(tree.find_all(exp.Query)):
        return False
    return bool(columns) and all(
        len(whole.places_of(column)) == 1 and len(frame.places_of(column)) == 1 for column in columns
    )


def _beside(left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
    """No rows, with the columns of both."""
    columns = [column.slice(0, 0) for column in (*left.columns, *right.columns)]
    return pa.RecordBatch.from_arrays(columns, [str(place) for place in range(len(columns))])


def _fields(table: Table, name: str, batch: pa.RecordBatch) -> tuple[Field, ...]:
    types = {column.name: column.type for column in table.schema}
    return tuple(
        Field(name, column, types.get(column, "BINARY"), is_hidden=column not in types) for column in batch.schema.names
    )


def _column_names(tree: exp.Expr) -> frozenset[str] | None:
    """All names that a statement uses; None where it uses a star."""
    if any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star)):
        return None
    return frozenset(column.name.lower() for column in tree.find_all(exp.Column))


def key_values(table: Table, name: str, condition: exp.Expr) -> tuple[tuple[Any, ...], ...] | None:
    """The one key that a condition asks for, by `key = literal`; None where it may ask for others too."""
    parts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    found: dict[str, Any] = {}
    for part in (one.unnest() for one in parts):
        if not isinstance(part, exp.EQ):
            continue
        for one, other in ((part.this, part.expression), (part.expression, part.this)):
            if (
                isinstance(one, exp.Column)
                and one.table.lower() in ("", name.lower())
                and isinstance(other, exp.Literal)
            ):
                found.setdefault(one.name.lower(), other)
    values = []
    for key in table.keys:
        literal, type_ = found.get(key.lower()), table.schema.require(key).type
        if literal is None or literal.is_string != (type_ == "STRING"):
            return None
        if not literal.is_string and (
            not literal.name.isdigit() or type_ not in ("TINYINT", "SMALLINT", "INT", "BIGINT")
        ):
            return None
        values.append(literal.name if literal.is_string else int(literal.name))
    return (tuple(values),)


def plain_values(column: pa.Array[Any]) -> list[Any]:
    """Values as answers show them: times as text in UTC, decimals with all their digits, what has parts as JSON."""
    type_ = column.type
    if pa.types.is_timestamp(type_):
        texts: Any = pc.strftime(column, format="%Y-%m-%d %H:%M:%S")
        return list(texts.to_pylist())
    if pa.types.is_date(type_):
        return list(column.cast(pa.string()).to_pylist())
    if pa.types.is_decimal(type_):
        return [None if value is None else format(value, "f") for value in column.to_pylist()]
    if pa.types.is_nested(type_):
        return [None if value is None else json.dumps(value, default=str) for value in column.to_pylist()]
    return list(column.to_pylist())
