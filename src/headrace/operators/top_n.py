"""`top-n`: the first rows of each key, by some columns, over all rows so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, backquoted, is_numeric
from headrace.operators.arrow_types import arrow_type
from headrace.operators.projection import refuse_doubles
from headrace.operators.row_ranks import RowOrder, can_rank
from headrace.operators.settings import ColumnName, Retract, checked
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import WEIGHT_COLUMN, refuse_system_names
from headrace.operators.top_rows import TopRows
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning
from headrace.serial.xxhash import can_hash

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

# All of them are one value of the state.
ROWS_MAX = 1_000
# Types of keys whose values are equal exactly if their bytes are: not numbers with a fraction.
_KEY_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "BOOLEAN", "DATE", "TIMESTAMP")
_ITEM = re.compile(r"(?P<column>.+?)(\s+(?P<direction>asc|desc))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rank:
    """One column of an order."""

    column: str
    is_descending: bool

    @classmethod
    def parse(cls, item: str) -> Rank:
        """`price DESC`. Raises InvalidInput."""
        found = _ITEM.fullmatch(item.strip())
        if found is None:
            raise InvalidInput(f"{item!r} names no column", hint="write it like `price DESC`")
        return cls(found["column"].strip("`"), (found["direction"] or "asc").lower() == "desc")

    def __str__(self) -> str:
        return f"{self.column} DESC" if self.is_descending else self.column


def _canonical(item: str) -> str:
    return str(Rank.parse(item))


RankedBy = Annotated[str, checked(_canonical)]


class TopNConfig(OperatorConfig):
    n: int = Field(ge=1, le=ROWS_MAX, description="How many rows of each key come out.")
    by: list[RankedBy] = Field(
        min_length=1, description="Columns that rank the rows: `price DESC`, the first counts most."
    )
    keys: list[ColumnName] = Field([], description="Columns that name a key; none ranks all rows together.")
    rank: ColumnName | None = Field(None, description="A new column with the rank: 1 for the first row.")
    emit: Literal["changes"] = Field("changes", description="changes: the first rows of a key whenever they change.")
    retract: Retract = False


class TopN(Operator[TopNConfig]):
    spec = Spec(
        name="top-n",
        title="Top N",
        summary="The first N rows of each key over all rows so far, a new ranking whenever one came.",
        kind="relational",
        inputs=(Port("in", "rows"),),
        outputs=(Port("out", "the rows that rank first, and their rank"),),
        guarantees=(
            "After every micro-batch the first N rows of each key where these changed (in Spark's plan: of each that "
            "had rows in it); the last ones are what a batch run gives. Nulls rank lowest. Of equal rows always the "
            "same are taken. State holds N rows for every key that ever came."
        ),
        example=(
            'topic bids schema="auction BIGINT, bidder BIGINT, price BIGINT"'
            ' ! top-n 10 by=["price DESC", "bidder"] keys=["auction"] rank=place ! preview'
        ),
        positional="n",
        stateful=True,
    )
    config_type = TopNConfig
    takes_any_order: ClassVar[bool] = True

    def output_schema(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        for key in config.keys:
            schema.require(key)
        _order(config, schema)
        ranks = () if config.rank is None else (Column(config.rank, "INT"),)
        columns = (*schema.columns, *ranks)
        refuse_doubles(columns)
        refuse_system_names(name for name in (config.rank,) if name is not None)
        return Schema(columns, (WEIGHT_COLUMN,) if config.retract else ())

    def used_columns(
        self, config: TopNConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed.union(config.keys, (Rank.parse(item).column for item in config.by))}

    def runs_in_chain(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> bool:
        return why_not(config, inputs["in"]) is None

    def chain_instance(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> Instance | None:
        schema = inputs["in"]
        if not self.runs_in_chain(config, inputs):
            return None
        ranks = [Rank.parse(item) for item in config.by]
        by = tuple((schema.require(rank.column).name, rank.is_descending) for rank in ranks)
        order = RowOrder(by, schema.names)
        return TopRows(schema, _keys(config, schema), order, config.n, config.rank, retracts=config.retract)

    def kept_columns(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        return {"in": {name: name for name in inputs["in"].names}}

    def lanes(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> Partitioning:
        return Partitioning("by_key", _keys(config, inputs["in"]))

    def compile(self, config: TopNConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

        schema = context.input_schema("in")
        keys = [backquoted(schema.require(key).name) for key in config.keys]
        # Columns that nobody uses were not read.
        names = [backquoted(name) for name in schema.names if name in inputs["in"].columns]
        kept = [name for name in names if name not in keys]
        row = f"struct({', '.join(kept or ['1 AS _one'])})"
        function, order = _order(config, schema)
        # The hash tells equal ones apart: the row itself would then be kept twice.
        order = [*order, f"xxhash64({', '.join(names)})"]
        taken = f"{function}({row}, struct({', '.join(order)}), {config.n})"
        ranked = inputs["in"].groupBy(*keys).agg(spark.expr(taken).alias("_rows"))
        rows = ranked.selectExpr(*keys, "posexplode(_rows) AS (_position, _row)")
        found = [name if name in keys else f"_row.{name} AS {name}" for name in names]
        rank = [] if config.rank is None else [f"_position + 1 AS {backquoted(config.rank)}"]
        return rows.selectExpr(*found, *rank)


def why_not(config: TopNConfig, schema: Schema) -> str | None:
    """Why this ranking cannot run as `TopRows`, in words for a plan; None if that does just what Spark's plan does.

    Called for rankings that are valid in Spark's plan.
    """
    keys, ranking = _keys(config, schema), {schema.require(Rank.parse(item).column).name for item in config.by}
    if missing := sorted({*keys, *ranking, *filter(None, [schema.event_time])}.difference(schema.names)):
        return f"the column {missing[0]!r} does not come along"
    try:
        types = {column.name: arrow_type(column.type) for column in schema}
    except InvalidInput as error:
        return error.message
    for column in schema:
        is_sure = can_rank if column.name in ranking else can_hash
        if not is_sure(types[column.name]) or (column.name in keys and column.type not in _KEY_TYPES):
            return f"{column.name!r} is {column.type}, which is left to Spark"
    return None


def _keys(config: TopNConfig, schema: Schema) -> tuple[str, ...]:
    return tuple(dict.fromkeys(schema.require(key).name for key in config.keys))


def _order(config: TopNConfig, schema: Schema) -> tuple[str, list[str]]:
    """Spark's function for the first rows, and what it compares. Raises InvalidInput for what cannot be compared."""
    ranks = [(Rank.parse(item), schema.require(Rank.parse(item).column)) for item in config.by]
    for column in schema:
        if column.type.startswith("MAP<"):
            raise InvalidInput(f"{column.name!r} is {column.type}, which has no order", hint="leave it out before")
    is_descending = ranks[0][0].is_descending
    order = [_compared(column, is_turned=rank.is_descending != is_descending) for rank, column in ranks]
    return "max_by" if is_descending else "min_by", [part for parts in order for part in parts]


def _compared(column: Column, *, is_turned: bool) -> Sequence[str]:
    """Expressions by which a column ranks. Turned, what ranks high ranks low: only numbers and times can be."""
    name = backquoted(column.name)
    if not is_turned:
        return [name]
    turned = _turned(column.type, name)
    if turned is None:
        hint = "rank all columns in the same direction, or put a number in its place"
        raise InvalidInput(
            f"{column.name!r} is {column.type}, which cannot be turned against the first column", hint=hint
        )
    # Turned, what is no number stays the greatest: it has to be told by itself.
    is_number = [f"(NOT isnan({name}))"] if column.type in ("FLOAT", "DOUBLE") else []
    return [f"({name} IS NULL)", *is_number, turned]


def _turned(kind: str, name: str) -> str | None:
    """A number that is the smaller, the greater the value is. Of whole numbers the complement: it cannot overflow."""
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return f"-{name}"
    whole = {"TIMESTAMP": f"unix_micros({name})", "DATE": f"unix_date({name})", "BOOLEAN": f"int({name})"}
    if kind in whole or is_numeric(kind):
        return f"~{whole.get(kind, name)}"
    return None
