from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Json, Schema
from headrace.operators import Catalogue
from headrace.operators.testing import Trial
from headrace.operators.tumbling_window import TumblingWindow

SCHEMA = replace(
    Schema.parse("drone STRING, `we ird` INT, battery DOUBLE, ts TIMESTAMP, seen TIMESTAMP"), event_time="ts"
)
BASE: dict[str, Json] = {"size": "10s", "time": "ts", "aggregates": ["count(*) AS n"]}


def output(**settings: Any) -> Schema:
    window = TumblingWindow()
    return window.output_schema(window.configure({**BASE, **settings}), {"in": SCHEMA})


def at(second: int) -> datetime:
    return datetime(2026, 1, 1, 0, 0, second)


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    """Two drones, a row each second for 25 seconds, some out of order, in two files."""
    rows = [{"drone": f"d{n % 2}", "battery": float(n), "ts": f"2026-01-01T00:00:{n:02}Z"} for n in range(25)]
    rows[3], rows[5] = rows[5], rows[3]
    for name, part in (("a.json", rows[:15]), ("b.json", rows[15:])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in part))
    schema = "drone STRING, battery DOUBLE, ts TIMESTAMP"
    return f'file {tmp_path} schema="{schema}" event_time=ts watermark="2 seconds" max_files_per_batch=1'


WINDOW = 'tumbling-window 10s time=ts keys=drone aggregates=["avg(battery) AS battery", "count(*) AS n"]'
CLOSED = [
    (at(0), at(10), "d0", 4.0, 5),
    (at(0), at(10), "d1", 5.0, 5),
    (at(10), at(20), "d0", 14.0, 5),
    (at(10), at(20), "d1", 15.0, 5),
]
OPEN = [(at(20), at(30), "d0", 22.0, 3), (at(20), at(30), "d1", 22.0, 2)]


@pytest.mark.spark
def test_a_batch_has_every_window(trial: Trial, fleet: str) -> None:
    assert sorted(trial.batch(f"{fleet} ! {WINDOW} ! preview")) == [*CLOSED, *OPEN]


@pytest.mark.spark
def test_a_stream_emits_a_window_once_when_it_closes(trial: Trial, fleet: str) -> None:
    assert sorted(trial.stream(f"{fleet} ! {WINDOW} ! preview")) == CLOSED


@pytest.mark.spark
def test_event_time_survives_a_select_that_renames_it(trial: Trial, fleet: str) -> None:
    renamed = (
        f'{fleet} ! select drone battery "ts AS happened" ! {WINDOW.replace("time=ts", "time=happened")} ! preview'
    )
    assert sorted(trial.stream(renamed)) == CLOSED


@pytest.mark.spark
def test_changes_end_with_what_is_final(trial: Trial, fleet: str) -> None:
    rows = trial.stream(f"{fleet} ! {WINDOW} emit=changes ! preview", output_mode="update")
    last = {(start, drone): (start, end, drone, *values) for start, end, drone, *values in rows}
    assert sorted(last.values()) == [*CLOSED, *OPEN]
    assert len(rows) > len(last)


@pytest.mark.spark
def test_without_keys_there_is_one_group(trial: Trial, fleet: str) -> None:
    window = 'tumbling-window 1m time=ts aggregates="max(battery) - min(battery) AS spread"'
    assert trial.batch(f"{fleet} ! {window} ! preview") == [(at(0), datetime(2026, 1, 1, 0, 1), 24.0)]


def test_the_schema() -> None:
    found = output(
        keys=["we ird", "drone"], aggregates=["avg(battery) AS b", "sum(battery) FILTER (WHERE battery > 1) AS s"]
    )
    assert (
        str(found) == "_window_start TIMESTAMP, _window_end TIMESTAMP, `we ird` INT, drone STRING, b DOUBLE, s DOUBLE"
    )
    assert found.event_time == "_event_time"
    assert output(emit="changes").event_time is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time": "seen"}, "'seen' is not the event time"),
        ({"time": "nothing"}, "unknown column 'nothing'"),
        ({"keys": ["dron"]}, "unknown column 'dron'"),
        ({"keys": ["drone"], "aggregates": ["count(*) AS drone"]}, "comes out twice"),
        ({"aggregates": ["count(*) AS _window_start"]}, "comes out twice"),
        ({"aggregates": ["count(*)"]}, r"'count\(\*\)' has no name"),
        ({"aggregates": ["battery AS b"]}, "holds no aggregate"),
        ({"aggregates": ["avg(batery) AS b"]}, "unknown column 'batery'"),
        ({"aggregates": ["avg(battery) + battery AS b"]}, "battery stands outside of an aggregate"),
        ({"aggregates": ["sum(DISTINCT battery) AS b"]}, "DISTINCT can only stand in count"),
        ({"aggregates": ["sum(ts > seen) AS b"]}, "does not work with BOOLEAN"),
    ],
)
def test_settings_that_do_not_fit_the_rows(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(**settings)


def test_a_key_may_stand_beside_an_aggregate() -> None:
    assert output(keys=["drone"], aggregates=["upper(drone) || max(drone) AS b"]).names[-1] == "b"


def test_rows_without_event_time_have_no_windows() -> None:
    window = TumblingWindow()
    with pytest.raises(InvalidInput, match="is no event time here") as caught:
        window.output_schema(window.configure(BASE), {"in": replace(SCHEMA, event_time=None)})
    assert caught.value.hint == "set event_time=ts and a watermark at the source"


@pytest.mark.parametrize("size", ["0s", "5", "5 parsecs"])
def test_a_window_has_a_length(size: str) -> None:
    with pytest.raises(InvalidGraph):
        Catalogue().get("tumbling-window").configure({**BASE, "size": size})


def test_which_columns_are_read() -> None:
    window = TumblingWindow()
    config = window.configure({**BASE, "keys": ["drone"], "aggregates": ["avg(battery) AS b"]})
    assert window.used_columns(config, frozenset(), {"in": SCHEMA}) == {"in": {"ts", "drone", "battery"}}
