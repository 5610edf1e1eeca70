"""A query as nodes: one chain for each SELECT, named after the statement that holds it.

WITH x AS (…)          the view base_x
FROM (…) AS x          the view base_x, or base_from without a name
FROM a JOIN b ON …     base_join (in a view of all columns base itself), and base_right where columns of b are renamed
… UNION ALL …          base_1_…, base_2_… for the parts, and base_union
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from headrace.graph.document import Json
from headrace.sql.analysis import Analysis, Origin
from headrace.sql.asof import AsofStep
from headrace.sql.assembly import CLOCK_COLUMN, Assembly, Output
from headrace.sql.changes import changes_of
from headrace.sql.computed_keys import computed_keys
from headrace.sql.expressions import check_expression
from headrace.sql.headers import header_changes, header_column, refuse_headers
from headrace.sql.joins import JoinSide, JoinStep
from headrace.sql.language.script import Script, Span
from headrace.sql.language.statement_tree import Update
from headrace.sql.language.tree import (
    Derived,
    Expression,
    Join,
    Name,
    OperatorCall,
    Query,
    Reference,
    Relation,
    Select,
    Window,
    Windowed,
)
from headrace.sql.language.values import print_name
from headrace.sql.lookups import Lookups
from headrace.sql.output_names import with_own_names
from headrace.sql.over_calls import is_over
from headrace.sql.over_steps import over_latest_steps, over_steps
from headrace.sql.ranking import Ranked, bound_of, outer_steps, qualified_steps, ranked_source, ranking_steps
from headrace.sql.refusals import (
    refuse_output,
    refuse_query,
    refuse_ranked_subqueries,
    refuse_select,
    refuse_source,
)
from headrace.sql.rows import Place, Rows
from headrace.sql.steps import ALL_COLUMNS, EVENT_TIME, Names, Piece, Step, Writer, node_ids, plain_steps
from headrace.sql.streams import Streams
from headrace.sql.table_changes import Match
from headrace.sql.window_operators import takes_time
from headrace.sql.window_steps import group_steps, is_bound, is_grouped, window_steps

_CHANGES = "these rows are changes, more or fewer by how the stream is cut into micro-batches"

# Operators that drop late rows whatever their settings, settings with which others do, and what lets such rows through.
_TIMED_OPERATORS = frozenset({"join", "asof-join"})
_TIMED_SETTINGS = frozenset({"time", "within", "every"})
_LENIENT_OPERATORS = frozenset({"deduplicate"})


class Queries:
    """Puts the nodes of queries into an assembly. Without an analysis nothing but ids and names is checked."""

    def __init__(self, script: Script, streams: Streams, assembly: Assembly, analysis: Analysis | None) -> None:
        self._script = script
        self._streams = streams
        self._assembly = assembly
        self._analysis = analysis
        self._lookups = Lookups(script, assembly, analysis, self._rows)

    def view(self, name: Name, query: Query) -> Output:
        """The nodes of a query whose last one is called like the view: there is at least one."""
        return self._query(query, Place(name.text, name, {}), is_view=True)

    def chain(self, query: Query, base: str, name: Name) -> Output:
        """The nodes of a query, named after `base`. Raises InvalidSyntax for what cannot run."""
        return self._query(query, Place(base, name, {}), is_view=False)

    def updated(self, join: Join, statement: Update, columns: list[str], base: str) -> Output:
        """Rows of a table as they are to be: looked up, and with the columns that are set."""
        rows = self._join(join, Place(base, statement.target, {}), f"{base}_join")
        writer = Writer(self._script, rows.names)
        values = {name.text.lower(): writer.expression(value) for name, value in statement.assignments}
        known = {column.lower() for column in columns}
        for name, value in statement.assignments:
            if name.text.lower() not in known:
                raise self._script.error(f"unknown column {name.text!r}", name.span, valid=tuple(columns))
            check_expression(self._script, value)
        table = statement.target.text.lower()
        kept = {column: rows.names.renamed.get((table, column.lower()), column) for column in columns}
        items = [_item(values.get(column.lower()) or print_name(kept[column]), column) for column in columns]
        pieces = tuple(Piece(values[name.text.lower()], value.span) for name, value in statement.assignments)
        return self._selected(rows.output, items, f"{base}_select", Origin(statement.target.span, pieces))

    def renamed(self, source: Reference, matches: Sequence[Match], base: str, target: Name) -> Output:
        """The columns of a stream that a table's key is compared with, under the names of the key's."""
        rows = self._rows(source, Place(base, target, {}))
        items = [_item(self._script.slice(match.column.column_span), match.key) for match in matches]
        pieces = tuple(Piece(item, match.column.span) for item, match in zip(items, matches, strict=True))
        return self._selected(rows.output, items, f"{base}_select", Origin(matches[0].column.span, pieces))

    def _selected(self, output: Output, items: list[str], node_id: str, origin: Origin) -> Output:
        columns: list[Json] = [*items]
        return self._assembly.add(node_id, "select", {"columns": columns}, [("in", output)], origin)

    def _query(self, query: Query, place: Place, *, is_view: bool) -> Output:
        refuse_query(self._script, query)
        for table in query.tables:
            output = self._query(table.query, replace(place.inside(table.name.text), name=table.name), is_view=True)
            place = replace(place, tables={**place.tables, table.name.text.lower(): output})
        if query.unions:
            return self._union(query, place, is_view=is_view)
        return self._select(query.first, place, is_view=is_view)

    def _union(self, query: Query, place: Place, *, is_view: bool) -> Output:
        if not query.unions[-1].is_all:
            all_rows = replace(query, unions=tuple(replace(union, is_all=True) for union in query.unions))
            return self._distinct(self._union(all_rows, place, is_view=False), place, is_view=is_view)
        selects = [query.first, *(union.select for union in query.unions)]
        outputs = [
            self._select(select, place.inside(str(number)), is_view=False) for number, select in enumerate(selects, 1)
        ]
        ports = ["in", *(f"in_{number}" for number in range(2, len(outputs) + 1))]
        self._require("union", "UNION", place.name.span)
        node_id = place.base if is_view else f"{place.base}_union"
        return self._assembly.add(node_id, "union", {}, zip(ports, outputs, strict=True), Origin(place.name.span))

    def _distinct(self, output: Output, place: Place, *, is_view: bool) -> Output:
        """Each row once: those before it that are alike in all columns are remembered."""
        self._refuse_changes(Rows(output, Names()), place, place.name.span)
        schema = self._analysis.schema(output.node) if self._analysis else None
        config: dict[str, Json] = {"keys": list[Json](() if schema is None else schema.names)}
        node_id = place.base if is_view else f"{place.base}_distinct"
        return self._assembly.add(node_id, "deduplicate", config, [("in", output)], Origin(place.name.span))

    def _select(self, select: Select, place: Place, *, is_view: bool) -> Output:
        refuse_output(self._script, select)
        if select.headers:
            refuse_headers(self._script, select)
        if select.is_distinct:
            every = self._select(replace(select, is_distinct=False), place, is_view=False)
            return self._distinct(every, place, is_view=is_view)
        refuse_select(self._script, select)
        ranked = ranked_source(select)
        bound = None if ranked is None else bound_of(self._script, select, ranked)
        if ranked is not None and bound is not None:
            return self._first_rows(select, ranked, bound, place, is_view=is_view)
        if isinstance(select.source, OperatorCall):
            return self._call(select, select.source, place, is_view=is_view)
        if is_view and isinstance(select.source, Join) and _is_everything(select):
            return self._join(select.source, place, place.base).output
        rows = self._rows(select.source, place)
        select, rows = self._lookups.before(select, rows, place)
        select = replace(select, items=with_own_names(select.items, rows.names))
        return self._chain(rows.output, self._steps(select, rows, place), place, is_view=is_view)

    def _first_rows(
        self, select: Select, ranked: Ranked, bound: tuple[int, list[Expression]], place: Place, *, is_view: bool
    ) -> Output:
        """A SELECT around one that ranks its rows: the inner chain, then what is left of the outer one."""
        if select.output is not None:
            raise self._script.error(f"{_CHANGES}, and OUTPUT cannot count those", select.output.span)
        for part in (select, ranked.inner):
            refuse_ranked_subqueries(self._script, part)
        count, rest = bound
        alias = ranked.source.alias
        inner = place.inside("from" if alias is None else alias.text)
        refuse_query(self._script, ranked.source.query)
        refuse_select(self._script, ranked.without_rank)
        rows = self._rows(ranked.inner.source, inner)
        self._require("top-n", "ROW_NUMBER()", ranked.item.span)
        self._refuse_changes(rows, inner, ranked.item.span)
        steps = ranking_steps(self._script, ranked, count, rows.names)
        output = self._chain(rows.output, steps, inner, is_view=True)
        behind = outer_steps(self._script, select, rest, Names.of(alias))
        return self._chain(output, behind, place, is_view=is_view)

    def _chain(self, output: Output, steps: list[Step], place: Place, *, is_view: bool) -> Output:
        """Nodes one behind the other; a view has at least one, which is called like it."""
        if is_view and not steps:
            steps = [ALL_COLUMNS]
        for step, node_id in zip(steps, node_ids(place.base, steps, last_takes_base=is_view), strict=True):
            origin = Origin(step.span or place.name.span, step.pieces)
            output = self._assembly.add(node_id, step.operator, step.config, [("in", output)], origin)
        return output

    def _rows(self, source: Relation, place: Place) -> Rows:
        rows = self._rows_of(source, place)
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        if schema is None or schema.event_time is None or schema.find(EVENT_TIME) is not None:
            return rows
        return replace(rows, names=replace(rows.names, event_time=schema.event_time))

    def _rows_of(self, source: Relation, place: Place) -> Rows:
        match source:
            case Reference(as_of=None):
                return Rows(self._output(source, place), Names.of(source.alias or source.name))
            case Derived():
                alias = source.alias
                inner = place.inside("from" if alias is None else alias.text)
                return Rows(self._query(source.query, inner, is_view=True), Names.of(alias))
            case Join():
                return self._join(source, place, f"{place.base}_join")
            case _:
                raise refuse_source(self._script, source)

    def _join(self, join: Join, place: Place, node_id: str) -> Rows:
        left = self._rows(_without_window(join.left), place.inside("left"))
        right = self._rows(_without_window(join.right), place.inside("right"))
        kind = AsofStep if join.is_asof else JoinStep
        step = kind(self._script, join, self._side(left), self._side(right))
        output = right.output
        if step.right_columns is not None:
            columns: list[Json] = [*step.right_columns]
            inputs = [("in", output)]
            output = self._assembly.add(
                f"{place.base}_right", "select", {"columns": columns}, inputs, Origin(join.span)
            )
        config, sides = step.config(), [("left", left.output), ("right", output)]
        if not step.is_lookup:
            config |= self._late_settings(step.operator, "a join", left, right)
        self._require(step.operator, "a JOIN", join.span)
        origin = Origin(join.span, step.pieces)
        return Rows(self._assembly.add(node_id, step.operator, config, sides, origin), step.names)

    def _side(self, rows: Rows) -> JoinSide:
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        return JoinSide(rows.names, schema, self._assembly.is_table(rows.output.node))

    def _steps(self, select: Select, rows: Rows, place: Place) -> list[Step]:
        window = select.window
        if window is not None and window.by_clock:
            window = self._by_clock(window, rows)
            select = replace(select, window=window)
        self._close_when_quiet(select, rows)
        if select.qualify is not None:
            self._refuse_changes(rows, place, select.qualify.span)
            return qualified_steps(self._script, select, rows.names)
        if any(map(is_over, select.items)):
            return self._over_steps(select, rows, place)
        if window is None and not is_grouped(select):
            steps = plain_steps(self._script, select, rows.names, self._output_settings(select, rows, place))
            return self._with_headers(select, rows, steps) if select.headers else steps
        keys = computed_keys(Writer(self._script, rows.names), select, self._has_column(rows), self._hidden_time(rows))
        select = keys.select
        if self._analysis is not None:
            columns = [
                pair
                for pair in _key_columns(Writer(self._script, rows.names), select)
                if pair[0].lower() not in keys.names
            ]
            self._analysis.check_columns(rows.output.node, columns)
            if window is not None and takes_time(window):
                time = window.time or self._analysis.event_time_of(rows.output.node, window.span)
                window = replace(window, time=Name(keys.time, time.span) if keys.time else time)
        if window is None:
            changes = changes_of(self._assembly.document(place.base), rows.output.node)
            return keys.before_groups(group_steps(self._script, select, rows.names, changes))
        late = self._streams.late_of(self._assembly.sources_of(rows.output.node))
        steps = window_steps(self._script, select, window, rows.names, late)
        for step in steps:
            self._require(step.operator, f"a {window.kind} window", window.span)
        return keys.before_groups(steps)

    def _with_headers(self, select: Select, rows: Rows, steps: list[Step]) -> list[Step]:
        """With the headers of records as one column more."""
        changes = header_changes(self._script, select)
        for change in changes:
            if change.value is not None:
                check_expression(self._script, change.value)
        writer = Writer(self._script, rows.names)
        column = header_column(writer, changes, has_headers=self._has_column(rows)("_headers"))
        *before, last = steps if steps and steps[-1].role == "select" else [*steps, ALL_COLUMNS]
        columns = list[Json]([*_texts(last.config["columns"]), column.text])
        return [*before, replace(last, config={"columns": columns}, pieces=(*last.pieces, column))]

    def _hidden_time(self, rows: Rows) -> str | None:
        """The event time of the rows where `*` leaves it out."""
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        time = None if schema is None else schema.event_time
        return None if schema is None or time in schema.names else time

    def _by_clock(self, window: Window, rows: Rows) -> Window:
        """Over the time at which rows are read, which is the event time of their sources from now on."""
        for source in sorted(self._assembly.sources_of(rows.output.node)):
            self._assembly.set_clock(source, window.span)
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        if schema is not None and schema.event_time is None:
            hint = f"put the window over the stream itself, or select {CLOCK_COLUMN} AS at there"
            message = f"the rows of {rows.output.node} have lost the time at which they were read"
            raise self._script.error(message, window.span, hint=hint)
        time = CLOCK_COLUMN if schema is None else schema.event_time or CLOCK_COLUMN
        return replace(window, time=Name(time, window.span), by_clock=False)

    def _has_column(self, rows: Rows) -> Callable[[str], bool]:
        """Whether the rows have a column; all do where nothing is known of them."""
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        return lambda name: schema is None or schema.find(name) is not None

    def _is_column(self, rows: Rows) -> Callable[[str], bool]:
        """Whether the rows are known to have a column."""
        schema = self._analysis.schema(rows.output.node) if self._analysis else None
        return lambda name: schema is not None and schema.find(name) is not None

    def _output_settings(self, select: Select, rows: Rows, place: Place) -> dict[str, Json]:
        """What OUTPUT does with late rows. Raises InvalidSyntax where what it lets through would depend on how the
        stream is cut."""
        output = select.output
        if output is None:
            return {}
        self._require("output-rate", "OUTPUT", output.span)
        if changes_of(self._assembly.document(place.base), rows.output.node) is not None:
            raise self._script.error(f"{_CHANGES}, and OUTPUT cannot count those", output.span)
        if output.every is not None:
            return self._late_settings("output-rate", "OUTPUT", rows)
        if self._analysis is not None and (disorder := self._disorder(rows.output.node)) is not None:
            hint = "OUTPUT … EVERY 10 SECONDS goes by event time; or write them to a topic and read that"
            message = f"the rows of {disorder} that come out together have no order in which OUTPUT could count them"
            raise self._script.error(message, output.span, hint=hint)
        return {}

    def _disorder(self, node_id: str) -> str | None:
        """The first node among those before a node whose rows come in any order."""
        nodes = self._assembly.document("").nodes
        before = self._assembly.nodes_before(node_id)
        return next((one.id for one in nodes if one.id in before and self._is_unordered(one.operator)), None)

    def _is_unordered(self, operator: str) -> bool:
        return self._analysis is not None and self._analysis.is_unordered(operator)

    def _close_when_quiet(self, select: Select, rows: Rows) -> None:
        """EMIT … TIMEOUT: event time goes on where the streams of a window have no rows for so long."""
        emit, window = select.emit, select.window
        if emit is None or emit.timeout is None:
            return
        if window is None or not takes_time(window):
            hint = "leave it out, or add a window such as WINDOW TUMBLING(10s)"
            raise self._script.error("TIMEOUT closes windows of event time, and here is none", emit.span, hint=hint)
        for source in sorted(self._assembly.sources_of(rows.output.node)):
            self._assembly.set_timeout(source, emit.timeout, emit.span)

    def _over_steps(self, select: Select, rows: Rows, place: Place) -> list[Step]:
        for clause in (*select.keys, select.having, select.qualify, select.window):
            if clause is not None:
                hint = "put the groups into a query of their own"
                raise self._script.error("OVER cannot stand beside groups", clause.span, hint=hint)
        changes = changes_of(self._assembly.document(place.base), rows.output.node)
        if changes is not None:
            return over_latest_steps(self._script, select, rows.names, self._is_column(rows), changes)
        late = self._late_settings("over-window", "OVER", rows)
        steps = over_steps(self._script, select, rows.names, self._is_column(rows), late)
        if self._hidden_time(rows) is not None and any(step.role == "values" for step in steps):
            hint = "compute it in a query inside, with _event_time AS ts beside it, and write ORDER BY ts"
            raise self._script.error(
                "OVER of what is no column loses the time of these rows", place.name.span, hint=hint
            )
        return steps

    def _refuse_changes(self, rows: Rows, place: Place, span: Span) -> None:
        if changes_of(self._assembly.document(place.base), rows.output.node) is not None:
            hint = "write them to a topic with CREATE STREAM … AS, and rank what a window over it gives"
            raise self._script.error("rows that are changes cannot be put in order yet", span, hint=hint)

    def _late_settings(self, operator: str, what: str, *sides: Rows) -> dict[str, Json]:
        """What an operator that is no window does with late rows. Raises InvalidSyntax where they are to become
        something that only windows can make of them."""
        late = self._streams.late_of(set().union(*(self._assembly.sources_of(rows.output.node) for rows in sides)))
        return {} if late is None else late.kept_by(self._script, operator, what)

    def _require(self, operator: str, what: str, span: Span) -> None:
        """Raises InvalidSyntax where the catalogue lacks the operator that something needs."""
        if self._analysis is not None and not self._analysis.knows(operator):
            raise self._script.error(f"{what} cannot run yet: there is no operator {operator!r}", span)

    def _call(self, select: Select, call: OperatorCall, place: Place, *, is_view: bool) -> Output:
        """`SELECT * FROM operator(…)`: one node."""
        clauses = (select.condition, select.window, select.having, select.emit, select.output, *select.keys)
        if [item.text for item in select.items] != ["*"] or any(clause is not None for clause in clauses):
            hint = "write a CREATE VIEW for it and read the view"
            raise self._script.error("an operator call stands alone: SELECT * FROM operator(…)", call.span, hint=hint)
        node_id = place.base if is_view else f"{place.base}_{call.operator.text.replace('-', '_')}"
        inputs = [(port, self._output(reference, place)) for port, reference in call.inputs]
        config: dict[str, Json] = {setting.name.text: setting.value for setting in call.settings}
        if _drops_late_rows(call.operator.text, config):
            rows = (Rows(output, Names()) for _, output in inputs)
            config |= self._late_settings(call.operator.text, f"this {call.operator.text}", *rows)
        origin = Origin.of_options(call.operator.span, call.settings)
        return self._assembly.add(node_id, call.operator.text, config, inputs, origin)

    def _output(self, reference: Reference, place: Place) -> Output:
        table = place.tables.get(reference.name.text.lower())
        if table is not None:
            return Output(table.node, reference.port)
        return self._streams.output(reference, is_checked=self._analysis is not None)


def _texts(columns: Json) -> list[str]:
    return [str(column) for column in columns] if isinstance(columns, list) else []


def _is_everything(select: Select) -> bool:
    """Whether the rows come out of FROM as they are."""
    clauses = (select.condition, select.window, select.having, select.output, *select.keys, *select.headers)
    return [item.text for item in select.items] == ["*"] and all(clause is None for clause in clauses)


def _drops_late_rows(operator: str, config: Mapping[str, Json]) -> bool:
    """Whether a call drops late rows and does not say itself what becomes of them."""
    is_timed = operator in _TIMED_OPERATORS or not _TIMED_SETTINGS.isdisjoint(config)
    return is_timed and "late" not in config and operator not in _LENIENT_OPERATORS


def _item(text: str, name: str) -> str:
    return text if text == print_name(name) else f"{text} AS {print_name(name)}"


def _without_window(side: Relation) -> Relation:
    return side.source if isinstance(side, Windowed) else side


def _key_columns(writer: Writer, select: Select) -> list[tuple[str, Span]]:
    """The columns that GROUP BY names, without the window's own."""
    return [pair for key in select.keys if not is_bound(key) for pair in writer.columns_in(key)]
