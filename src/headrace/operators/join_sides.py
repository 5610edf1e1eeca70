"""The two sides of a join: whose column a name means, and the names under which both stand in one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from sqlglot import exp

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.columnar.types import EXACT
from headrace.operators.expressions import Expression, parse_expression, place_of, refuse_aggregates, sql

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")
# What columns are called that were made for a condition (`join_keys.py`): they do not come out.
KEY_PREFIX = "_join_key_"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition over both sides. `keys` are pairs of columns that must be equal: (left, right); `equal` are the
    expressions of each side that must be, as many of the left as of the right."""

    text: str
    reads: Mapping[Side, frozenset[str]]
    keys: tuple[tuple[str, str], ...]
    equal: Mapping[Side, tuple[str, ...]]

    @property
    def without_nulls(self) -> str:
        """That nothing which must be equal is null. Spark's full join takes two nulls for equal; as an equality of
        one side with the other this is one more key, and rows with nulls find nobody."""
        left, right = (" OR ".join(f"({text}) IS NULL" for text in self.equal[side]) for side in SIDES)
        return f"IF({left}, 1, 0) = IF({right}, 2, 0)"

    @property
    def shared(self) -> frozenset[str]:
        """Names, in lower case, that both sides have and that mean the same value."""
        return frozenset(left.lower() for left, right in self.keys if left.lower() == right.lower())


def within_row(side: Side, name: str) -> str:
    """What a column of one side is called in a row of both."""
    return f"_{side}_{name}"


def read_condition(text: str, inputs: Mapping[str, Schema]) -> Condition:
    """Raises InvalidSyntax and InvalidInput, with the place, for names of no side and where nothing must be equal."""
    expression = parse_expression(text)
    refuse_aggregates(expression, "a join")
    found = [(column, *_resolved(expression, column, inputs)) for column in expression.tree.find_all(exp.Column)]
    equal = [part for part in conjuncts(expression.tree) if isinstance(part, exp.EQ) and _compares_sides(part)]
    if not equal:
        hint = "write it like left.id = right.id, with AND for more"
        raise InvalidInput("a join needs a column of the left that equals one of the right", hint=hint)
    spans = [
        (column.parts[0].meta["start"], column.parts[1].meta["end"] + 1, side, name) for column, side, name in found
    ]
    for start, end, side, name in sorted(spans, reverse=True):
        text = text[:start] + backquoted(within_row(side, name)) + text[end:]
    reads = {side: frozenset(name for _, of, name in found if of == side) for side in SIDES}
    names = {id(column): name for column, _, name in found}
    return Condition(text, reads, tuple(_keys(equal, names)), {side: tuple(_equal_parts(text, side)) for side in SIDES})


def side_by_side(frame: DataFrame, side: Side, *, plain: str | None = None) -> DataFrame:
    """The rows of one side under the names that they have beside the other. The column `plain` is no longer an event
    time for Spark, which allows one for each side."""
    from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

    def named(name: str) -> SparkColumn:
        column, new = spark.col(backquoted(name)), within_row(side, name)
        return column.alias(new, metadata={}) if name == plain else column.alias(new)

    return frame.select(*(named(name) for name in frame.columns))


def joined_columns(condition: Condition, inputs: Mapping[str, Schema]) -> list[tuple[Side, Column]]:
    """What comes out, and of which side it is: keys that have one name come once."""
    both: list[tuple[Side, Column]] = [
        (side, column) for side in SIDES for column in inputs[side] if not column.name.startswith(KEY_PREFIX)
    ]
    return [(side, column) for side, column in both if side == "left" or column.name.lower() not in condition.shared]


def joined_row(
    condition: Condition, inputs: Mapping[str, Schema], present: list[str], times: Mapping[str, SparkColumn]
) -> list[SparkColumn]:
    """The columns that were read, under their own names. Only those in `times` are an event time for what follows."""
    made = {
        column.name: _output(condition, side, column.name)
        for side, column in joined_columns(condition, inputs)
        if within_row(side, column.name) in present
    }
    return list({**made, **times}.values())


def left_row(left: Schema, present: list[str], times: Mapping[str, SparkColumn]) -> list[SparkColumn]:
    """The columns of the left that were read, under their own names."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    names = [column.name for column in left if within_row("left", column.name) in present]
    made = {name: spark.col(backquoted(within_row("left", name))).alias(name, metadata={}) for name in names}
    return list({**made, **times}.values())


def time_of(side: Side, name: str) -> SparkColumn:
    """The event time of one side, as that of the row of both."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    return spark.col(backquoted(within_row(side, name))).alias(name)


def _output(condition: Condition, side: Side, name: str) -> SparkColumn:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    column = spark.col(backquoted(within_row(side, name)))
    if name.lower() in condition.shared:
        other = next(right for left, right in condition.keys if left.lower() == right.lower() == name.lower())
        column = spark.coalesce(column, spark.col(backquoted(within_row("right", other))))
    return column.alias(name, metadata={})


def _resolved(expression: Expression, column: exp.Column, inputs: Mapping[str, Schema]) -> tuple[Side, str]:
    first, *rest = column.parts
    if first.name.lower() not in SIDES or not rest:
        hint = f"write left.{column.name} or right.{column.name}"
        raise InvalidSyntax(f"{sql(column)} does not say of which side", place=place_of(expression, column), hint=hint)
    side = cast("Side", first.name.lower())
    try:
        return side, inputs[side].require(rest[0].name).name
    except InvalidInput as error:
        error.place = place_of(expression, column)
        raise


def _start(column: exp.Column) -> int:
    return int(column.parts[0].meta["start"])


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that must all hold for this one to hold."""
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    else:
        yield tree


def exact_keys(condition: Condition, inputs: Mapping[str, Schema]) -> list[tuple[str, str]]:
    """The pairs of key columns that rows can be found by: of one type, and equal exactly if their bytes are.

    Each column is in one pair only."""
    chosen: list[tuple[str, str]] = []
    for left, right in condition.keys:
        types = [inputs[side].require(name).type for side, name in zip(SIDES, (left, right), strict=True)]
        is_exact = types[0] == types[1] and types[0] in EXACT
        if is_exact and all(left != one and right != other for one, other in chosen):
            chosen.append((left, right))
    return chosen


def compared_sides(tree: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """What of the left must equal what of the right; None for another condition."""
    if not isinstance(tree, exp.EQ) or not _compares_sides(tree):
        return None
    is_left = next(tree.left.find_all(exp.Column)).parts[0].name.lower() == "left"
    return (tree.left, tree.right) if is_left else (tree.right, tree.left)


def _compares_sides(tree: exp.EQ) -> bool:
    sides = [{column.parts[0].name.lower() for column in part.find_all(exp.Column)} for part in (tree.left, tree.right)]
    return sides in ([{"left"}, {"right"}], [{"right"}, {"left"}])


def _equal_parts(text: str, side: Side) -> Iterator[str]:
    """The expressions of one side that must equal some of the other; `text` has the names of a row of both."""
    for part in conjuncts(parse_expression(text).tree):
        if isinstance(part, exp.EQ):
            sides = [_prefixes(one) for one in (part.left, part.right)]
            if sorted(sides) == sorted([within_row(side, "")] for side in SIDES):
                yield sql(part.left if sides[0] == [within_row(side, "")] else part.right)


def _prefixes(tree: exp.Expr) -> list[str]:
    """What the names of the columns in a tree begin with, each once."""
    names = [column.parts[0].name for column in tree.find_all(exp.Column)]
    return sorted({prefix for side in SIDES for name in names if name.startswith(prefix := within_row(side, ""))})


def _keys(equal: list[exp.EQ], names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    for part in equal:
        columns = [side for side in (part.left.unnest(), part.right.unnest()) if isinstance(side, exp.Column)]
        if len(columns) == 2 and all(len(column.parts) == 2 for column in columns):
            left, right = sorted(columns, key=lambda column: column.parts[0].name.lower())
            yield names[id(left)], names[id(right)]
