"""What tasks make of rows for sinks: of columns that can only be named, and of rows that nobody wants."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from headrace.graph.document import Node
from headrace.graph.schema import UNKNOWN, Column, Schema
from headrace.operators import Catalogue
from headrace.operators.row_step import RowStep
from headrace.spark.planning.branches import OnlySpark, shaped
from headrace.spark.planning.plan import Branch
from headrace.spark.writing.shaping import Shaper

COLUMNS = Schema(Schema.parse("k STRING, n BIGINT").columns, (Column("_event_time", "TIMESTAMP"),))
SINK = Node("out", "to-topic", {"topic": "o", "key": "k"})
TIMES = [datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(4)]
ROWS = pa.record_batch(
    {
        "k": ["a", "b", None, "d"],
        "n": [1, (1 << 63) - 1, 3, 4],
        "_event_time": pa.array(TIMES, pa.timestamp("us", tz="UTC")),
    }
)


def branch(*steps: RowStep, sink: Node = SINK) -> Branch:
    nodes = [Node(f"s{number}", "select" if step.columns else "filter") for number, step in enumerate(steps)]
    return Branch(sink, tuple(zip(nodes, steps, strict=True)))


def test_a_step_names_a_column_that_is_not_visible() -> None:
    steps = RowStep(condition="second(_event_time) > 0"), RowStep(columns=(("k", "k"), ("at", "_event_time")))
    made = shaped([branch(*steps)], COLUMNS, Catalogue())
    shaper = Shaper(made.shaping)
    rows, (output,) = shaper.shaped(ROWS), made.outputs
    assert output.keep is not None
    kept = rows.filter(rows.column(output.keep))
    assert [kept.column(name).to_pylist() for name in output.columns.values()] == [["b", None, "d"], TIMES[1:]]
    assert {node: report.rows_out for node, report in shaper.reports.items()} == {"s0": 3, "s1": 3}


def test_a_sink_right_there_takes_what_is_visible() -> None:
    made = shaped([branch()], COLUMNS, Catalogue())
    assert made.outputs[0].columns == {"k": "k", "n": "n"}
    assert Shaper(made.shaping).shaped(ROWS) == ROWS


def test_what_may_fail_is_computed_for_rows_that_are_kept_alone() -> None:
    steps = RowStep(condition="n < 4"), RowStep(columns=(("k", "k"), ("more", "n + 1")))
    made = shaped([branch(*steps), branch()], COLUMNS, Catalogue())
    rows = Shaper(made.shaping).shaped(ROWS)
    assert rows.column(made.outputs[0].columns["more"]).to_pylist() == [2, None, 4, None]


def test_nodes_that_nothing_passes_are_reported() -> None:
    made = shaped([branch(RowStep(condition="n < 0"))], COLUMNS, Catalogue())
    shaper = Shaper(made.shaping)
    assert shaper.reports["s0"].rows_out == 0
    assert shaper.shaped(ROWS).num_rows == 0
    assert shaper.reports["s0"].rows_out == 0


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (branch(RowStep(condition="sqrt(n) > 1")), "filter follows, in Spark's plan"),
        (branch(RowStep(columns=(("k", "k"), ("m", "NULL")))), "select follows, in Spark's plan"),
        (branch(RowStep(columns=(("k", "n / 2"),))), "Spark writes the key for to-topic"),
    ],
)
def test_the_reason_why_rows_go_to_spark(found: Branch, reason: str) -> None:
    with pytest.raises(OnlySpark, match=reason):
        shaped([found], COLUMNS, Catalogue())


def test_columns_of_unknown_types_are_handed_on_and_not_computed_with() -> None:
    unknown = Schema((Column("k", UNKNOWN),))
    by_column = Node("out", "to-topic", {"topic": "o", "format": "arrow"})
    assert shaped([branch(sink=by_column)], unknown, Catalogue()).outputs[0].columns == {"k": "k"}
    for found in (branch(), branch(RowStep(condition="k IS NULL"), sink=by_column)):
        with pytest.raises(OnlySpark):
            shaped([found], unknown, Catalogue())
