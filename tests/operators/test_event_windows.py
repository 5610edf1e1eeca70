"""Windows in Spark's plan: batch, stream with random cuts and stream with restarts agree with plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.operators.disorder import Row, moment, random_input, source

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Schema
from headrace.operators import Catalogue
from headrace.operators.testing import Trial

AGGREGATES = 'aggregates=["count(*) AS n", "sum(v) AS total", "count(DISTINCT v) AS kinds"]'
PIPELINE = f"""
@rows ! tumbling-window 10s time=ts keys=k {AGGREGATES} as tumbling ! preview as by_tumbling
@rows ! sliding-window 30s every=10s time=ts keys=k {AGGREGATES} ! preview as by_sliding
@rows ! cumulate-window 30s step=10s time=ts keys=k {AGGREGATES} ! preview as by_cumulate
@rows ! gap-window 4s time=ts keys=k {AGGREGATES} ! preview as by_gap
@tumbling ! filter "n > 1" ! select "_event_time AS closed" n
  ! tumbling-window 1m time=closed aggregates=["sum(n) AS n", "count(*) AS windows"] ! preview as by_window_of_windows
"""


def result(window: tuple[float, float], key: str, rows: Iterable[Row]) -> Row:
    values = [row["v"] for row in rows]
    known = [value for value in values if value is not None]
    return {
        "_window_start": moment(window[0]),
        "_window_end": moment(window[1]),
        "k": key,
        "n": len(values),
        "total": sum(known) if known else None,
        "kinds": len(set(known)),
    }


def grouped(rows: Iterable[Row], windows_of: Callable[[int], list[tuple[int, int]]]) -> list[Row]:
    groups: dict[tuple[tuple[int, int], str], list[Row]] = defaultdict(list)
    for row in rows:
        for window in windows_of(row["t"]):
            groups[window, row["k"]].append(row)
    return [result(window, key, members) for (window, key), members in groups.items()]


def sliding(t: int, size: int, every: int) -> list[tuple[int, int]]:
    last = t // every * every
    return [(start, start + size) for start in range(last, t - size, -every)]


def cumulate(t: int, size: int, step: int) -> list[tuple[int, int]]:
    start = t // size * size
    return [(start, end) for end in range(start + step, start + size + 1, step) if end > t]


def sessions(rows: Iterable[Row], gap: int) -> list[Row]:
    found: list[Row] = []
    for key in sorted({row["k"] for row in rows}):
        mine = sorted((row for row in rows if row["k"] == key), key=lambda row: int(row["t"]))
        members = mine[:1]
        for row in mine[1:]:
            if row["t"] >= members[-1]["t"] + gap:
                found.append(result((members[0]["t"], members[-1]["t"] + gap), key, members))
                members = []
            members.append(row)
        found.append(result((members[0]["t"], members[-1]["t"] + gap), key, members))
    return found


def window_of_windows(tumbling: list[Row], rows: Iterable[Row]) -> list[Row]:
    per_minute: dict[int, list[int]] = defaultdict(list)
    starts = {moment(t // 10 * 10): t // 10 * 10 for row in rows for t in (row["t"],)}
    for window in (row for row in tumbling if row["n"] > 1):
        per_minute[starts[window["_window_start"]] // 60 * 60].append(window["n"])
    return [
        {"_window_start": moment(start), "_window_end": moment(start + 60), "n": sum(counts), "windows": len(counts)}
        for start, counts in per_minute.items()
    ]


def expected(rows: list[Row]) -> dict[str, list[Row]]:
    tumbling = grouped(rows, lambda t: sliding(t, 10, 10))
    return {
        "by_tumbling": tumbling,
        "by_sliding": grouped(rows, lambda t: sliding(t, 30, 10)),
        "by_cumulate": grouped(rows, lambda t: cumulate(t, 30, 10)),
        "by_gap": sessions(rows, 4),
        "by_window_of_windows": window_of_windows(tumbling, rows),
    }


def comparable(found: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Without the row that closes everything: in a batch its windows are there, in a stream they stay open."""
    closed = {sink: [row for row in rows if row["_window_start"] < "1970-01-05"] for sink, rows in found.items()}
    return {sink: sorted(str(sorted(row.items())) for row in rows) for sink, rows in closed.items()}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_batch_stream_and_restarted_stream_agree(trial: Trial, tmp_path: Path, seed: int) -> None:
    given = random_input(seed)
    text = f"{given.write(tmp_path / 'all')} as rows\n{PIPELINE}"
    wanted = comparable(expected(list(given.rows)))
    assert comparable(trial.batches(text)) == wanted
    assert comparable(trial.streams(text, tmp_path / "checkpoint")) == wanted
    restarted: dict[str, list[Row]] = defaultdict(list)
    for number in given.arriving(tmp_path / "growing"):
        if number % 2 == 0:
            pipeline = f"{source(tmp_path / 'growing')} as rows\n{PIPELINE}"
            for sink, rows in trial.streams(pipeline, tmp_path / "restarted").items():
                restarted[sink] += rows
    assert comparable(restarted) == wanted


@pytest.mark.spark
def test_windows_are_aligned_before_the_epoch_too(trial: Trial, tmp_path: Path) -> None:
    """In a batch: for a stream Spark's watermark begins with the epoch."""
    given = random_input(4, from_s=-150)
    text = f"{given.write(tmp_path / 'all')} as rows\n{PIPELINE}"
    assert comparable(trial.batches(text)) == comparable(expected(list(given.rows)))


@pytest.mark.spark
def test_processing_time_loses_no_row(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"k": "a"}\n' * 7)
    text = (
        f'file {tmp_path} schema="k STRING" ! processing-time seen'
        ' ! tumbling-window 1h time=seen keys=k aggregates="count(*) AS n" emit=changes ! preview'
    )
    for rows in (trial.batch(text), trial.stream(text, output_mode="update")):
        ((start, end, key, count),) = rows
        assert (key, count) == ("a", 7)
        assert (end - start).total_seconds() == 3600


@pytest.mark.spark
def test_aggregates_over_all_rows_end_as_in_a_batch(trial: Trial, tmp_path: Path) -> None:
    given = random_input(5, row_count=40, file_count=2)
    text = f'{given.write(tmp_path)} ! aggregate "count(DISTINCT v) AS kinds" "max(t) AS last" keys=k ! preview'
    rows = trial.stream(text, output_mode="update")
    last = {key: values for key, *values in rows}
    assert last == {key: values for key, *values in trial.batch(text)}
    values = [row["v"] for row in given.rows if row["k"] == "a" and row["v"] is not None]
    assert last["a"] == [len(set(values)), max(row["t"] for row in given.rows if row["k"] == "a")]
    assert len(rows) > len(last)


@pytest.mark.parametrize(
    ("operator", "settings", "message"),
    [
        ("sliding-window", {"size": "10s", "every": "20s"}, "1 to 1000 times as long as every"),
        ("sliding-window", {"size": "1h", "every": "1s"}, "1 to 1000 times as long as every"),
        ("sliding-window", {"size": "10s", "every": "0s"}, "every has no length"),
        ("cumulate-window", {"size": "10s", "step": "3s"}, "multiple of step"),
        ("cumulate-window", {"size": "0s", "step": "3s"}, "size has no length"),
        ("gap-window", {"gap": "0s", "keys": ["k"]}, "gap has no length"),
        ("gap-window", {"gap": "1s"}, "'keys' is missing"),
    ],
)
def test_settings_that_make_no_window(operator: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get(operator).configure({"time": "ts", "aggregates": ["count(*) AS n"], **settings})


def test_processing_time_is_the_only_event_time() -> None:
    operator = Catalogue().get("processing-time")
    config = operator.configure({})
    made = operator.output_schema(config, {"in": Schema.parse("k STRING")})
    assert (str(made), made.event_time) == ("k STRING, processed_at TIMESTAMP", "processed_at")
    assert operator.used_columns(config, frozenset({"k", "processed_at"}), {}) == {"in": {"k"}}
    with pytest.raises(InvalidInput, match="have an event time already: 'processed_at'"):
        operator.output_schema(operator.configure({"into": "b"}), {"in": made})
    with pytest.raises(InvalidInput, match="comes out twice"):
        operator.output_schema(operator.configure({"into": "k"}), {"in": Schema.parse("k STRING")})
