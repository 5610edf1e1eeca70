"""A session that another took in deletes its key in a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headrace.graph import validate
from headrace.graph.text import parse_text
from headrace.operators import Catalogue
from headrace.spark.planning.placement import place
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of
from headrace.spark.planning.retractions import retraction_columns
from headrace.spark.specs import Output, SinkSpec
from headrace.spark.writing.shaping import Shaper
from headrace.spark.writing.topic_stage import TopicStage

SOURCE = 'topic t schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts watermark="1 second"'
CATALOGUE = Catalogue()


def session(settings: str) -> str:
    return f'{SOURCE} ! session-window "5 seconds" time=ts keys=k {settings} ! select k n ! to-table o key=k'


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        ('aggregates=["sum(n) AS n", "count(*) AS rows"] emit=changes', ("rows",)),
        ('aggregates=["sum(n) AS n", "max(n) AS m"] late=update_previous late_for="1 minute"', ("n", "m")),
        ('aggregates=["sum(n) AS n"]', ()),
    ],
)
def test_what_tells_a_retraction(settings: str, columns: tuple[str, ...]) -> None:
    (plan,) = plan_queries(validate(parse_text(session(settings), CATALOGUE), CATALOGUE), CATALOGUE)
    assert retraction_columns(plan.base, CATALOGUE) == columns


def test_its_record_has_no_value(tmp_path: Path) -> None:
    text = session('aggregates=["sum(n) AS n", "count(*) AS rows"] emit=changes')
    validated = validate(parse_text(text, CATALOGUE), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    chain = chain_of(plan, validated, CATALOGUE)
    assert chain is not None
    placed = place(plan, chain, validated, CATALOGUE)
    assert placed.shaped is not None
    (output,) = placed.shaped.outputs
    spec = SinkSpec("q", "", str(tmp_path), None, (output,), placed.shaped.shaping)
    assert SinkSpec.from_json(spec.to_json()).outputs == (output,)
    rows = pa.record_batch({"k": ["a", "b", "c"], "n": [1, None, None], "rows": [1, None, 2]})
    assert staged(output, Shaper(spec.shaping).shaped(rows), tmp_path) == [
        b'{"k":"a","n":1}',
        None,
        b'{"k":"c","n":null}',
    ]


def staged(output: Output, rows: pa.RecordBatch, folder: Path) -> list[bytes | None]:
    stage = TopicStage(output, str(folder / "staged"), 0)
    _, values = stage._records(rows)
    return list(stage._as_table(pa.array([b"key"] * len(values)), values, rows).to_pylist())
