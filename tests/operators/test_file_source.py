from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators.file_source import FileSource, streamable
from headrace.operators.testing import Trial

SCHEMA = 'schema="drone STRING, battery DOUBLE, ts TIMESTAMP"'
ROWS = [("a", 1.5, datetime(2026, 1, 1)), ("b", None, datetime(2026, 1, 2))]


def write_json(path: Path) -> None:
    path.write_text(
        '{"drone": "a", "battery": 1.5, "ts": "2026-01-01T00:00:00Z", "more": 1}\n{"drone": "b", "ts": "2026-01-02"}\n'
    )


@pytest.mark.spark
def test_json_lines_as_batch_and_as_stream(trial: Trial, tmp_path: Path) -> None:
    write_json(tmp_path / "a.json")
    text = f"file {tmp_path} {SCHEMA} event_time=ts ! preview"
    assert sorted(trial.batch(text)) == ROWS
    assert sorted(trial.stream(text)) == ROWS


@pytest.mark.spark
def test_a_single_file_can_be_streamed(trial: Trial, tmp_path: Path) -> None:
    write_json(tmp_path / "a.json")
    write_json(tmp_path / "b.json")
    text = f"file {tmp_path}/a.json {SCHEMA} ! preview"
    assert sorted(trial.stream(text)) == sorted(trial.batch(text)) == ROWS


@pytest.mark.spark
@pytest.mark.parametrize("header", [True, False])
def test_csv_with_and_without_header(trial: Trial, tmp_path: Path, header: bool) -> None:
    lines = ["drone,battery,ts"] * header + ["a,1.5,2026-01-01 00:00:00", "b,,2026-01-02 00:00:00"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    text = f"file {tmp_path} format=csv {SCHEMA} header={'true' if header else 'false'} ! preview"
    assert sorted(trial.batch(text)) == ROWS


@pytest.mark.spark
def test_parquet(trial: Trial, tmp_path: Path) -> None:
    path = str(tmp_path / "rows")
    trial.spark.createDataFrame(ROWS, "drone STRING, battery DOUBLE, ts TIMESTAMP").write.parquet(path)
    assert sorted(trial.batch(f"file {path} format=parquet {SCHEMA} ! preview")) == ROWS


@pytest.mark.spark
@pytest.mark.parametrize("content", ['{"battery": "much"}\n', "no json\n"])
def test_a_row_that_cannot_be_decoded_fails_the_job(trial: Trial, tmp_path: Path, content: str) -> None:
    from py4j.protocol import Py4JJavaError

    (tmp_path / "a.json").write_text(content)
    with pytest.raises(Py4JJavaError, match=r"[Mm]alformed"):
        trial.batch(f"file {tmp_path} {SCHEMA} ! preview")


@pytest.mark.spark
def test_a_header_that_names_other_columns_fails_the_job(trial: Trial, tmp_path: Path) -> None:
    from py4j.protocol import Py4JJavaError

    (tmp_path / "a.csv").write_text("battery,drone,ts\n1.5,a,2026-01-01\n")
    with pytest.raises(Py4JJavaError, match="CSV header does not conform"):
        trial.batch(f"file {tmp_path} format=csv {SCHEMA} ! preview")


def test_only_a_file_becomes_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "-a.json").touch()
    assert streamable(str(tmp_path)) == str(tmp_path)
    assert streamable("s3://bucket/*.json") == "s3://bucket/*.json"
    assert streamable(str(tmp_path / "-a.json")) == str(tmp_path / "-[a].json")


def test_the_schema() -> None:
    source = FileSource()
    found = source.output_schema(
        source.configure({"path": "x", "schema": "a int, ts timestamp", "event_time": "TS"}), {}
    )
    assert (str(found), found.event_time, found.hidden) == ("a INT, ts TIMESTAMP", "ts", ())
    with pytest.raises(InvalidInput, match="is INT, not TIMESTAMP"):
        source.output_schema(source.configure({"path": "x", "schema": "a int", "event_time": "a"}), {})


@pytest.mark.parametrize(
    "settings",
    [
        {"path": ""},
        {"schema": ""},
        {"schema": "a FOO"},
        {"format": "avro"},
        {"max_files_per_batch": 0},
        {"watermark": "1s"},
    ],
)
def test_settings_that_are_wrong(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidGraph):
        FileSource().configure({"path": "x", "schema": "a INT", **settings})
    assert FileSource().configure({"path": "x", "schema": "a INT"}).schema_ddl == str(Schema.parse("a INT"))
