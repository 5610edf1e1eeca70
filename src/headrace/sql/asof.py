"""An ASOF JOIN as an operator: what must be equal, and that the newest row of the right counts."""

from __future__ import annotations

from sqlglot import exp

from headrace.graph.document import Json
from headrace.sql.conjuncts import compared, moment
from headrace.sql.joins import JoinStep
from headrace.sql.language.dialect import qualified_in
from headrace.sql.language.tree import Expression, Windowed
from headrace.sql.language.values import print_name
from headrace.sql.steps import Piece

FORM = "write ON a.k = b.k AND a.ts >= b.ts"


class AsofStep(JoinStep):
    """Raises InvalidSyntax for conditions other than equal columns and the event times of both sides."""

    operator = "asof-join"
    is_lookup = False

    @property
    def right_columns(self) -> list[str] | None:
        """Beside the columns of the right those that are keys, once more, under the names that the left has."""
        schema = self._sides["right"].schema
        copies = [_copy(left, right) for left, right in self._keys() if not self._is_shared(left, right)]
        if schema is None or not (copies or self._renamed):
            return None
        return [*(self._right_item(name) for name in schema.names), *copies]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return ()

    def config(self) -> dict[str, Json]:
        self._refuse_clauses()
        join, keys = self._join, [left for left, _ in self._keys()]
        config: dict[str, Json] = {"keys": list[Json](keys)} if keys else {}
        if join.kind != "inner":
            config["kind"] = join.kind
        return config if join.within is None else {**config, "within": join.within.before}

    def _refuse_clauses(self) -> None:
        join = self._join
        if self._sides["right"].is_table:
            raise self._error("a table has no time: its rows are looked up as they are", "leave ASOF out")
        if join.kind not in ("inner", "left"):
            raise self._error(
                f"ASOF {join.kind.upper()} JOIN: only the left has rows of its own", "write ASOF LEFT JOIN"
            )
        if join.retention is not None or (join.within is not None and join.within.before != join.within.after):
            raise self._error("an ASOF join looks back only", "write WITHIN 5 MINUTES for how far at most")
        for side in (join.left, join.right):
            if isinstance(side, Windowed):
                raise self._script.error("an ASOF join has no window", side.window.span, hint="leave it out")

    def _keys(self) -> list[tuple[str, str]]:
        """Columns that are equal in a pair: of the left, and of the right."""
        using = [(name.text, name.text) for name in self._join.using]
        found = [self._equal_columns(part) for part in self._parts if not self._says_nothing_more(part)]
        return [*using, *found]

    def _says_nothing_more(self, part: Expression) -> bool:
        """Whether a condition is the one on time, which holds anyway, or TRUE."""
        if isinstance(part.tree, exp.Boolean) and part.tree.this:
            return True
        pairs = compared(part.tree)
        if not all(self._is_time_of_both(*pair) for pair in pairs):
            message = "an ASOF join takes the newest row of the right whose event time is not later"
            raise self._script.error(message, part.span, hint=FORM)
        return bool(pairs)

    def _is_time_of_both(self, later: exp.Expr, earlier: exp.Expr, strict: bool) -> bool:
        left, right = moment(later, self._side_of), moment(earlier, self._side_of)
        if left is None or right is None or strict or (left.side, right.side) != ("left", "right"):
            return False
        return left.offset_ms == right.offset_ms == 0 and self._are_event_times(left, right)

    def _equal_columns(self, part: Expression) -> tuple[str, str]:
        qualified = qualified_in(part.tree, frozenset(self._side_of))
        self._require_own(qualified)
        names = {self._side_of[one.qualifier]: one.column for one in qualified}
        are_columns = isinstance(part.tree, exp.EQ) and all(
            isinstance(side, exp.Column) and len(side.parts) == 2 for side in (part.tree.left, part.tree.right)
        )
        if not are_columns or len(names) != 2:
            raise self._script.error("an ASOF join compares columns of both sides with =", part.span, hint=FORM)
        return self._left_name(part, names["left"]), names["right"]

    def _left_name(self, part: Expression, column: str) -> str:
        """What the rows of the left call it, where they are pairs of an earlier join."""
        qualifiers = [one.qualifier for one in qualified_in(part.tree, self._sides["left"].names.qualifiers)]
        return self._sides["left"].names.renamed.get((qualifiers[0], column.lower()), column)

    def _is_shared(self, left: str, right: str) -> bool:
        """Whether the column of the right has the key's name already, and keeps it."""
        return left.lower() == right.lower() and right.lower() not in self._renamed


def _copy(left: str, right: str) -> str:
    return print_name(left) if left.lower() == right.lower() else f"{print_name(right)} AS {print_name(left)}"
