from __future__ import annotations

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators.file_sink import FileSink
from headrace.operators.testing import Trial

SCHEMA = Schema.parse("drone STRING, tags ARRAY<STRING>")


@pytest.mark.spark
def test_the_rows_are_passed_on(trial: Trial) -> None:
    assert trial.batch("generator rows=2 ! select value ! to-file out/") == [(0,), (1,)]


def test_csv_holds_plain_values_only() -> None:
    sink = FileSink()
    assert sink.output_schema(sink.configure({"path": "x", "format": "parquet"}), {"in": SCHEMA}) == SCHEMA
    with pytest.raises(InvalidInput, match="csv cannot hold the column 'tags' of type ARRAY<STRING>"):
        sink.output_schema(sink.configure({"path": "x", "format": "csv"}), {"in": SCHEMA})


def test_settings_that_are_wrong() -> None:
    for settings in ({"path": ""}, {}, {"path": "x", "format": "xml"}):
        with pytest.raises(InvalidGraph):
            FileSink().configure(settings)
