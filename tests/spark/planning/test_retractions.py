"""Rows that hold no longer delete their key in a table: where that is needed, where it is refused, what is written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.graph import validate
from headrace.graph.text import parse_text
from headrace.log import decode_fetched
from headrace.operators import Catalogue
from headrace.spark.planning.placement import place
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of
from headrace.spark.planning.retractions import retraction_columns, retractions_of
from headrace.spark.planning.runnable import runnable
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


COUNTS = f'{SOURCE} ! aggregate "count(*) AS c" keys=k'
BEST = f'{SOURCE} ! top-n 2 by=["n DESC"] keys=k rank=place'
WINDOWS = f'{SOURCE} ! tumbling-window 1m time=ts keys=k aggregates="count(*) AS c" emit=changes'
LATEST = f'{SOURCE} ! aggregate-latest n keys=k aggregates="count(*) AS c"'


@pytest.mark.parametrize(
    ("text", "weighed", "refused"),
    [
        (f"{COUNTS} ! to-table o key=k", False, False),
        (f'{COUNTS} ! filter "c < 3" ! to-table o key=k', True, False),
        (f'{COUNTS} ! select "k AS who" "c % 2 AS odd" ! filter "odd = 1" ! to-table o key=who', True, False),
        (f"{COUNTS} ! filter \"k <> 'a'\" ! to-table o key=k", False, False),
        (f"{COUNTS} ! filter \"k <> 'a' AND rand() < 0.5\" ! to-table o key=k", True, False),
        (f'{COUNTS} ! filter "c < 3" ! to-topic o key=k', False, False),
        (f'{COUNTS} ! to-table o key="k, c"', True, False),
        (f'{BEST} ! select k n place ! to-table o key="k, place"', False, False),
        (f'{BEST} ! select k n ! to-table o key="k, n"', True, False),
        (f'{BEST} ! filter "place = 2" ! to-table o key=k', True, False),
        (f'{WINDOWS} ! filter "c < 3" ! to-table o key="k, _window_start"', True, False),
        (f"{WINDOWS} ! to-table o key=k", False, False),
        (f'{LATEST} ! filter "c < 3" ! to-table o key=k', False, True),
    ],
)
def test_where_rows_are_retracted(text: str, weighed: bool, refused: bool) -> None:
    validated = runnable(parse_text(text, CATALOGUE), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    found = retractions_of(plan, validated, CATALOGUE)
    assert (found.weighed, bool(found.refused)) == (weighed, refused)
    assert validated.as_written == parse_text(text, CATALOGUE)


@pytest.mark.parametrize(
    "text",
    [
        f'{COUNTS} ! filter "c < 3" ! select "upper(k) AS k" c ! to-table o key=k',
        f'{COUNTS} ! filter "c < 3" ! to-table o key=c',
        f"{BEST} ! to-table o key=n",
        f'{WINDOWS} ! filter "c < 3" ! to-table o key=k',
        f'{LATEST} ! to-table o key="k, c"',
    ],
)
def test_a_table_whose_rows_could_not_be_deleted_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"could not be deleted|cannot be deleted") as refused:
        runnable(parse_text(text, CATALOGUE), CATALOGUE)
    assert refused.value.node is not None
    assert refused.value.hint is not None


def test_a_delete_is_left_out_where_its_key_comes_again(tmp_path: Path) -> None:
    text = f'{COUNTS} ! filter "c < 3" ! to-table o key=k'
    validated = runnable(parse_text(text, CATALOGUE), CATALOGUE)
    (plan,) = plan_queries(validated, CATALOGUE)
    chain = chain_of(plan, validated, CATALOGUE)
    assert chain is not None
    placed = place(plan, chain, validated, CATALOGUE)
    assert placed.shaped is not None
    rows = pa.record_batch(
        {"k": ["a", "a", "b", "b", "c"], "c": [1, 2, 2, 3, 3], "_weight": pa.array([-1, 1, -1, 1, 1], pa.int32())}
    )
    shaper, (output,) = Shaper(placed.shaped.shaping), placed.shaped.outputs
    stage = TopicStage(output, str(tmp_path / "staged"), 0)
    stage.add(shaper.shaped(rows))
    (part,) = stage.parts()
    (records,) = decode_fetched(part.read(), ())
    found = dict(zip(records.keys.to_pylist(), records.values.to_pylist(), strict=True))
    assert found == {b"a": b'{"k":"a","c":2}', b"b": None}
    assert [report.rows_out for report in shaper.reports.values()] == [1]
