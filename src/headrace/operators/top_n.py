"""`top-n`: the first rows of each moment of event time, by some columns: the best of each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema, backquoted
from headrace.operators.projection import refuse_doubles
from headrace.operators.settings import ColumnName
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import refuse_system_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

ROWS_MAX = 10_000
Keys = Annotated[list[ColumnName], Field(description="Columns to group by; none ranks all rows of a moment together.")]


class TopNConfig(OperatorConfig):
    n: int = Field(ge=1, le=ROWS_MAX, description="How many rows of each group come out.")
    by: list[ColumnName] = Field(min_length=1, description="The columns that rank the rows, the first counts most.")
    order: Literal["desc", "asc"] = Field("desc", description="desc: the greatest first; asc: the smallest first.")
    keys: Keys = Field([])
    ties: Literal["break", "keep"] = Field(
        "break", description="Rows that rank equal: break takes n in all, by the other columns; keep takes all of them."
    )
    rank: str | None = Field(None, description="A new column for the rank: 1 for the first row.")


class TopN(Operator[TopNConfig]):
    spec = Spec(
        name="top-n",
        title="Top N",
        summary="The first N rows of each window, or of each moment of event time.",
        kind="relational",
        inputs=(Port("in", "rows with an event time, such as those of a closed window"),),
        outputs=(Port("out", "the rows that rank first, with their columns"),),
        guarantees=(
            "Rows with the same event time (all rows of one window have it) are ranked together, and come out once, "
            "when the watermark has passed that time; the same rows as a batch run. Among rows that rank equal the "
            "choice is always the same. With ties=keep state holds all rows of a window, else N of each group."
        ),
        example=(
            'topic bids schema="auction BIGINT, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            ' ! tumbling-window "1 minute" time=ts keys=["auction"] aggregates=["count(*) AS bids"]'
            " ! top-n 3 by=bids rank=place ! preview"
        ),
        positional="n",
        stateful=True,
    )
    config_type = TopNConfig

    def output_schema(self, config: TopNConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        if schema.event_time is None:
            hint = "put it behind a window with emit=final"
            raise InvalidInput("the rows have no event time: it would never be known which come first", hint=hint)
        for name in (*config.by, *config.keys):
            schema.require(name)
        for column in schema:
            if column.type.startswith("MAP<"):
                raise InvalidInput(f"{column.name!r} is {column.type}, which has no order", hint="leave it out before")
        ranks = () if config.rank is None else (Column(config.rank, "INT"),)
        columns = (*schema.columns, *ranks)
        refuse_doubles(columns)
        refuse_system_names(name for name in (config.rank,) if name is not None)
        time = schema.require(schema.event_time)
        return Schema(columns, () if time in columns else (time,), time.name)

    def used_columns(
        self, config: TopNConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        # Every column breaks ties: what comes out must not depend on who reads it.
        schema = inputs["in"]
        return {"in": frozenset((*schema.names, schema.event_time or ""))}

    def compile(self, config: TopNConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        schema = context.input_schema("in")
        time = backquoted(schema.require(schema.event_time or "").name)
        keys = [backquoted(schema.require(key).name) for key in config.keys]
        by = [backquoted(schema.require(name).name) for name in config.by]
        grouped = [time, *(key for key in keys if key != time)]
        ranked = _ranked(inputs["in"], config, grouped, by)
        names = [backquoted(name) for name in inputs["in"].columns]
        found = [name if name in grouped else f"_row.{name}" for name in names]
        rank = [] if config.rank is None else [f"{_rank(config, by)} AS {backquoted(config.rank)}"]
        return ranked.selectExpr(*(f"{item} AS {name}" for item, name in zip(found, names, strict=True)), *rank)


def _ranked(frame: DataFrame, config: TopNConfig, grouped: Sequence[str], by: Sequence[str]) -> DataFrame:
    """One row for each that is in: its columns as `_row`, its position as `_position`, all that are in as `_rows`."""
    from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

    others = [backquoted(name) for name in frame.columns if backquoted(name) not in (*grouped, *by)]
    row = f"struct({', '.join([*by, *others])})"
    best = "max_by" if config.order == "desc" else "min_by"
    taken = f"{best}({row}, {row}, {config.n})"
    if config.ties == "keep":
        taken = f"sort_array(collect_list({row}), {'false' if config.order == 'desc' else 'true'})"
    rows = frame.groupBy(*grouped).agg(spark.expr(taken).alias("_rows"))
    if config.ties == "keep":
        last = f"element_at(slice(_rows, 1, {config.n}), -1)"
        kept = f"filter(_rows, r -> {_ranks('r', by)} {'>=' if config.order == 'desc' else '<='} {_ranks(last, by)})"
        rows = rows.withColumn("_rows", spark.expr(kept))
    return rows.selectExpr(*grouped, "_rows", "posexplode(_rows) AS (_position, _row)")


def _rank(config: TopNConfig, by: Sequence[str]) -> str:
    """1 and more; rows that rank equal have the same rank where all of them are kept."""
    if config.ties == "break":
        return "_position + 1"
    better = ">" if config.order == "desc" else "<"
    return f"size(filter(_rows, r -> {_ranks('r', by)} {better} {_ranks('_row', by)})) + 1"


def _ranks(row: str, by: Sequence[str]) -> str:
    return f"struct({', '.join(f'{row}.{name}' for name in by)})"
