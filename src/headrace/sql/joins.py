"""A JOIN as an operator: which side a column is of, what must be equal, and what bounds the state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.graph.document import Json
from headrace.graph.schema import Schema
from headrace.operators.durations import canonical_duration_of
from headrace.sql.conjuncts import Moment, Side, TimeBound, compared, conjuncts, moment, time_bound
from headrace.sql.language.dialect import Qualified, bare_columns_in, is_column, qualified_in
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Expression, Join, Window, Windowed
from headrace.sql.language.values import print_name
from headrace.sql.steps import Names, Piece, replace_spans

NO_BOUND = (
    "add WITHIN 10 MINUTES, RETENTION 1 DAY, or a condition such as b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR"
)


@dataclass(frozen=True, slots=True)
class JoinSide:
    """The rows of one side: how a query names them, and their columns where those are known."""

    names: Names
    schema: Schema | None
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class _SideColumn:
    """A column that a condition names: of which side, and where. Without a qualifier it is a bare name."""

    side: Side
    column: str
    span: Span
    qualifier: str = ""


class JoinStep:
    """Raises InvalidSyntax for a join that has no bound, or whose condition names columns of no side."""

    def __init__(self, script: Script, join: Join, left: JoinSide, right: JoinSide) -> None:
        self._script = script
        self._join = join
        self._sides: Mapping[Side, JoinSide] = {"left": left, "right": right}
        self._side_of: dict[str, Side] = dict.fromkeys(left.names.qualifiers, "left")
        self._side_of |= dict.fromkeys(right.names.qualifiers, "right")
        if join.kind == "cross":
            hint = "write JOIN … ON stream.column = table.column" if right.is_table else NO_BOUND
            raise self._error("a cross join pairs every row with every other and never forgets one", hint)
        if left.is_table:
            hint = "write the stream first: FROM stream JOIN table ON …"
            raise self._error("a table stands on the right of a join: its rows are looked up", hint)
        if self._is_choosing and not right.is_table and right.schema is not None:
            hint = "write its rows to a table, or JOIN it and name the columns of the left"
            raise self._error(f"{join.kind.upper()} JOIN looks rows up in a table, and the right is a stream", hint)
        if left.names.qualifiers & right.names.qualifiers:
            raise self._error("both sides have the same name", "give them names of their own: FROM t AS a JOIN t AS b")
        self._parts = self._condition_parts()
        self._renamed = self._clashes()

    @property
    def right_columns(self) -> list[str] | None:
        """The select list that tells columns of the right from those of the left; None if their names are apart."""
        schema = self._sides["right"].schema
        if schema is None or not self._renamed:
            return None
        return [self._right_item(name) for name in schema.names]

    @property
    def names(self) -> Names:
        """How the query names the columns of the pairs."""
        left, right = self._sides["left"].names, self._sides["right"].names
        if self._is_choosing:
            return left
        renamed = {(qualifier, old): new for qualifier in right.qualifiers for old, new in self._renamed.items()}
        columns = {**self._columns_of("left"), **self._columns_of("right")}
        return Names(left.qualifiers | right.qualifiers, {**left.renamed, **right.renamed, **renamed}, columns)

    def _columns_of(self, side: Side) -> dict[str, tuple[str, ...]]:
        """The columns of each name of a side, as the pairs name them; none where they are not known."""
        one = self._sides[side]
        if one.schema is None:
            return {}
        whole = one.names.columns or dict.fromkeys(one.names.qualifiers, one.schema.names)
        renamed = self._renamed if side == "right" else {}
        return {name: tuple(renamed.get(own.lower(), own) for own in columns) for name, columns in whole.items()}

    @property
    def _is_choosing(self) -> bool:
        """Whether no column of the right comes out: it only says which rows of the left do."""
        return self._join.kind in ("semi", "anti")

    @property
    def operator(self) -> str:
        return "lookup-join" if self.is_lookup else "join"

    @property
    def is_lookup(self) -> bool:
        """Whether the right side is a table; where nothing is known of it, a join without a bound means that."""
        join, right = self._join, self._sides["right"]
        is_bounded = join.within is not None or join.retention is not None or self._shared_window() is not None
        unknown = right.schema is None and not is_bounded and not any(self._time_bounds(part) for part in self._parts)
        return right.is_table or unknown

    def config(self) -> dict[str, Json]:
        config: dict[str, Json] = {"on": " AND ".join(piece.text for piece in self.pieces)}
        if self._join.kind != "inner":
            config["kind"] = self._join.kind
        if not self.is_lookup:
            return config | self._bounds()
        self._refuse_for_tables()
        return config

    def _refuse_for_tables(self) -> None:
        """Raises InvalidSyntax for what only a join of two streams can have."""
        join = self._join
        if join.kind not in ("inner", "left", "semi", "anti"):
            hint = "write JOIN or LEFT JOIN"
            raise self._error(
                f"{join.kind.upper()} JOIN with a table: nothing tells when its rows have no partner", hint
            )
        if join.within is not None or join.retention is not None or self._shared_window() is not None:
            raise self._error("a table has no time: its rows are looked up as they are", "leave the bound out")

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The conditions that are checked for each pair of rows."""
        using = [Piece(f"left.{print_name(name.text)} = right.{print_name(name.text)}", name.span)
                 for name in self._join.using]  # fmt: skip
        kept = [part for part in self._parts if not self._is_only_a_bound(part)]
        return (*using, *(Piece(self._sided(part), part.span) for part in kept))

    def _condition_parts(self) -> list[Expression]:
        condition = self._join.condition
        return [] if condition is None else conjuncts(self._script, condition)

    def _right_item(self, name: str) -> str:
        new = self._renamed.get(name.lower())
        return print_name(name) if new is None else f"{print_name(name)} AS {print_name(new)}"

    def _clashes(self) -> dict[str, str]:
        """Columns of the right that the left has too, unless they are equal anyway: their names beside the left."""
        left, right = self._sides["left"].schema, self._sides["right"].schema
        if left is None or right is None or self._is_choosing:
            return {}
        equal = {name.text.lower() for name in self._join.using}
        if self._join.kind == "inner":  # beside a row without a partner, the other side's key is null
            equal |= self._equal_names()
        prefix = next(iter(sorted(self._sides["right"].names.qualifiers)), "right")
        clashing = [name for name in right.names if left.find(name) is not None and name.lower() not in equal]
        return {name.lower(): f"{prefix}_{name}" for name in clashing}

    def _equal_names(self) -> set[str]:
        """Columns of one name that the condition makes equal: they come out once."""
        found = set()
        for part in self._parts:
            columns = qualified_in(part.tree, frozenset(self._side_of))
            names = {column.column.lower() for column in columns}
            is_equality = isinstance(part.tree, exp.EQ) and len(columns) == 2 and len(names) == 1
            # abs(a.id) = abs(b.id) makes no columns equal.
            is_equality = is_equality and all(
                is_column(side.unnest()) for side in (part.tree.this, part.tree.expression)
            )
            if is_equality and len({self._side_of[column.qualifier] for column in columns}) == 2:
                found |= names
        return found

    def _bounds(self) -> dict[str, Json]:
        join = self._join
        window = self._shared_window()
        if window is not None:
            slide = window.get("slide")
            return {"window": str(window.get("size")), **({} if slide is None else {"every": str(slide)})}
        if join.within is not None:
            return {"before": join.within.before, "after": join.within.after}
        if join.retention is not None:
            return {"before": join.retention, "after": join.retention}
        bounds = [bound for part in self._parts for bound in self._time_bounds(part)]
        before = [bound.before_ms for bound in bounds if bound.before_ms is not None]
        after = [bound.after_ms for bound in bounds if bound.after_ms is not None]
        if not before or not after:
            raise self._error("nothing bounds this join in time: it would keep every row for ever", NO_BOUND)
        return {"before": canonical_duration_of(min(before)), "after": canonical_duration_of(min(after))}

    def _shared_window(self) -> Window | None:
        windows = [side.window for side in (self._join.left, self._join.right) if isinstance(side, Windowed)]
        if not windows:
            return None
        for window in windows:
            self._refuse_window(window)
        if len(windows) != 2 or windows[0].settings != windows[1].settings:
            hint = "write the same WINDOW TUMBLING(…) behind both"
            raise self._script.error("both sides of a windowed join have the same window", windows[0].span, hint=hint)
        for side, window in zip(("left", "right"), windows, strict=True):
            self._require_event_time(window, self._sides["left" if side == "left" else "right"])
        return windows[0]

    def _refuse_window(self, window: Window) -> None:
        if window.kind not in ("tumbling", "sliding"):
            hint = "write the same WINDOW TUMBLING(…) behind both, or WITHIN 10 MINUTES: each pair comes once"
            raise self._script.error(f"{window.kind} windows cannot be joined yet", window.span, hint=hint)
        if window.by_clock:
            hint = "leave PROCTIME() out, or join by WATERMARK FOR _timestamp, the time that records have in the log"
            raise self._script.error("joins go by event time, not by the clock", window.span, hint=hint)

    def _require_event_time(self, window: Window, side: JoinSide) -> None:
        """A window over another column than the event time would be another join than the one that runs."""
        time, schema = window.time, side.schema
        if time is not None and schema is not None and (schema.event_time or "").lower() != time.text.lower():
            valid = () if schema.event_time is None else (schema.event_time,)
            raise self._script.error(f"{time.text!r} is not the event time of these rows", time.span, valid=valid)

    def _is_only_a_bound(self, part: Expression) -> bool:
        """Whether before and after say all that this condition says."""
        bounds = [] if self._sides["right"].is_table else self._time_bounds(part)
        given_otherwise = self._join.within is not None or self._join.retention is not None
        return bool(bounds) and not given_otherwise and all(bound.is_exact for bound in bounds)

    def _time_bounds(self, part: Expression) -> list[TimeBound]:
        found: list[TimeBound] = []
        for later, earlier, strict in compared(part.tree):
            one, other = moment(later, self._side_of), moment(earlier, self._side_of)
            if one is None or other is None or one.side == other.side or not self._are_event_times(one, other):
                return []
            found.append(time_bound(one, other, strict=strict))
        return found

    def _are_event_times(self, *moments: Moment) -> bool:
        """Unknown schemas are believed: nothing is checked then."""
        schemas = [(self._sides[one.side].schema, one.column) for one in moments]
        return all(schema is None or (schema.event_time or "").lower() == column for schema, column in schemas)

    def _sided(self, part: Expression, inner: Side | None = None) -> str:
        """A condition with left and right before its columns; a bare name is of the `inner` side, if that has one."""
        columns = self._columns_in(part, part.tree, inner)
        return replace_spans(part.text, part.span.start, [(one.span, self._sided_column(one)) for one in columns])

    def _columns_in(self, part: Expression, tree: exp.Expr, inner: Side | None) -> list[_SideColumn]:
        """The columns that a tree within a condition names."""
        names = frozenset(self._side_of)
        qualified = qualified_in(tree, names)
        self._require_own(qualified)
        found = [_SideColumn(self._side_of[one.qualifier], one.column, one.span, one.qualifier) for one in qualified]
        bare = bare_columns_in(tree, names)
        return [*found, *(_SideColumn(self._side(name, part, inner), name, span) for name, span in bare)]

    def _require_own(self, qualified: Iterable[Qualified]) -> None:
        """Raises InvalidSyntax where a side of several streams, or one, has no such column under that name."""
        for one in qualified:
            side = self._side_of[one.qualifier]
            names = self._sides[side].names
            schema = self._sides[side].schema
            if not names.columns and schema is not None:
                names = replace(names, columns={one.qualifier: schema.names})
            names.require_own(self._script, one)

    def _sided_column(self, one: _SideColumn) -> str:
        side = self._sides[one.side]
        earlier = side.names.renamed.get((one.qualifier, one.column.lower()), one.column)
        if side.schema is not None and side.schema.find(earlier) is None:
            valid, hint = side.schema.names, did_you_mean(one.column, side.schema.names)
            raise self._script.error(f"unknown column {one.column!r}", one.span, valid=valid, hint=hint)
        name = self._renamed.get(one.column.lower(), earlier) if one.side == "right" else earlier
        return f"{one.side}.{print_name(name)}"

    def _side(self, name: str, part: Expression, inner: Side | None) -> Side:
        """Whose column a bare name is. Raises InvalidSyntax where it is of both or of none."""
        owners = [side for side, one in self._sides.items() if one.schema is not None and one.schema.find(name)]
        if inner in owners:
            return inner
        if len(owners) == 1:
            return owners[0]
        valid = tuple(sorted(self._side_of))
        message = f"{name!r} is a column of both sides" if owners else f"{name!r} is a column of neither side"
        raise self._script.error(message, part.span, valid=valid, hint="write the name of its stream before it")

    def _error(self, message: str, hint: str | None = None) -> InvalidSyntax:
        return self._script.error(message, self._join.span, hint=hint)
