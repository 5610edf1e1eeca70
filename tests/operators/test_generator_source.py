from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from headrace.errors import InvalidConfig, InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators.generator_source import GeneratorSource
from headrace.operators.testing import Trial


def output(**settings: Any) -> Schema:
    source = GeneratorSource()
    return source.output_schema(source.configure(settings), {})


@pytest.mark.spark
def test_a_batch_has_its_rows_spaced_by_the_rate(trial: Trial) -> None:
    epoch = datetime(1970, 1, 1)
    rows = trial.batch('generator 4 rows=3 columns=["value % 2 AS parity", "timestamp"] event_time=timestamp ! preview')
    assert rows == [(n % 2, epoch + timedelta(milliseconds=250 * n)) for n in range(3)]


@pytest.mark.spark
def test_a_batch_without_an_end_is_refused(trial: Trial) -> None:
    with pytest.raises(InvalidConfig, match="node 'numbers': a batch run needs an end") as caught:
        trial.batch("generator 4 as numbers ! preview")
    assert caught.value.hint == "set rows, such as rows=1000"


@pytest.mark.spark
def test_a_stream_is_made_by_sparks_own_source(trial: Trial) -> None:
    frame = trial.frame('generator 4 event_time=timestamp watermark="1 second" rows=7 ! preview', bounded=False)
    assert frame.isStreaming
    assert frame.columns == ["value", "timestamp"]


def test_the_schema() -> None:
    assert output() == Schema.parse("value BIGINT, timestamp TIMESTAMP")
    made = output(columns=["value AS n", "rand() AS r", "timestamp AS ts"], event_time="ts")
    assert str(made) == "n BIGINT, r UNKNOWN, ts TIMESTAMP"
    assert made.event_time == "ts"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": ["valu"]}, "unknown column 'valu'"),
        ({"columns": ["value"], "event_time": "timestamp"}, "unknown column 'timestamp'"),
        ({"event_time": "value"}, "is BIGINT, not TIMESTAMP"),
    ],
)
def test_settings_that_do_not_fit_together(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(**settings)


@pytest.mark.parametrize(
    "settings", [{"rows_per_second": 0}, {"rows": 0}, {"columns": []}, {"watermark": "5s"}, {"rows_per_second": True}]
)
def test_settings_that_are_wrong(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidGraph):
        output(**settings)
