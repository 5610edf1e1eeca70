"""Joins and unions: batch, stream with random cuts and stream with restarts agree with plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.operators.disorder import Input, Row, random_input, source

from headrace.errors import InvalidGraph, InvalidInput
from headrace.graph import Builder, Schema, parse_text, to_python
from headrace.operators import Catalogue
from headrace.operators.testing import Trial

PIPELINE = """
@other ! select k "v AS w" "t AS u" "ts AS at" as right_rows
@rows ! @inner.left; @right_rows ! @inner.right
join "left.k = right.k AND left.v = right.w" before=3s after=5s as inner ! preview as by_inner
@rows ! @left.left; @right_rows ! @left.right
join "left.k = right.k AND (left.v < right.w OR left.v IS NULL)" kind=left after=2s as left ! preview as by_left
@rows ! @right.left; @right_rows ! @right.right
join "left.k = right.k AND left.v = right.w" kind=right before=4s as right ! preview as by_right
@rows ! @full.left; @right_rows ! @full.right
join "left.k = right.k AND left.v = right.w" kind=full before=1s after=1s as full ! preview as by_full
@rows ! @same.left; @right_rows ! @same.right
join "right.k = left.k AND left.v = right.w" window=10s as same ! preview as by_window
@rows ! select "k AS k2" "v AS v2" "t AS t2" "ts AS ts2" ! @self.right
@rows ! @self.left
join "left.k = right.k2" after=2s as self ! preview as by_self
@rows ! union as all ! tumbling-window 10s time=ts keys=k aggregates="count(*) AS n" ! preview as by_union
@other ! @all.in_2
@inner ! tumbling-window 10s time=ts keys=k aggregates="count(*) AS n" ! preview as by_window_of_join
"""

Holds = Callable[[Row, Row], bool]


def key_and_value(one: Row, two: Row) -> bool:
    return one["k"] == two["k"] and one["v"] is not None and bool(one["v"] == two["v"])


def smaller(one: Row, two: Row) -> bool:
    return one["k"] == two["k"] and (one["v"] is None or (two["v"] is not None and one["v"] < two["v"]))


def pair(one: Row | None, two: Row | None) -> Row:
    known = one or two or {}
    made = {"k": known["k"], **{name: one and one[name] for name in ("v", "t", "ts")}}
    renamed = {"w": "v", "u": "t", "at": "ts"}
    return made | {name: two and two[of] for name, of in renamed.items()}


def joined(left: list[Row], right: list[Row], holds: Holds, kind: str) -> list[Row]:
    pairs = [(a, b) for a, one in enumerate(left) for b, two in enumerate(right) if holds(one, two)]
    found = [pair(left[a], right[b]) for a, b in pairs]
    if kind in ("left", "full"):
        found += [pair(one, None) for a, one in enumerate(left) if a not in {a for a, _ in pairs}]
    if kind in ("right", "full"):
        found += [pair(None, two) for b, two in enumerate(right) if b not in {b for _, b in pairs}]
    return found


def apart(low: int, high: int, also: Holds) -> Holds:
    return lambda one, two: also(one, two) and low <= two["t"] - one["t"] <= high


def counts(rows: list[Row]) -> list[Row]:
    found = Counter((row["t"] // 10, row["k"]) for row in rows)
    return [{"k": key, "n": count, "tens": tens} for (tens, key), count in found.items()]


def expected(left: list[Row], right: list[Row]) -> dict[str, list[Row]]:
    inner = joined(left, right, apart(-3, 5, key_and_value), "inner")
    return {
        "by_inner": inner,
        "by_left": joined(left, right, apart(0, 2, smaller), "left"),
        "by_right": joined(left, right, apart(-4, 0, key_and_value), "right"),
        "by_full": joined(left, right, apart(-1, 1, key_and_value), "full"),
        "by_window": joined(
            left, right, lambda one, two: key_and_value(one, two) and one["t"] // 10 == two["t"] // 10, "inner"
        ),
        "by_self": [
            {**one, "k2": two["k"], "v2": two["v"], "t2": two["t"], "ts2": two["ts"]}
            for one in left
            for two in left
            if one["k"] == two["k"] and 0 <= two["t"] - one["t"] <= 2
        ],
        "by_union": counts([*left, *right]),
        "by_window_of_join": counts(inner),
    }


def comparable(found: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Without the rows that close everything."""
    return {sink: sorted(map(_text, filter(lambda row: row["k"] != "end", rows))) for sink, rows in found.items()}


def _text(row: Row) -> str:
    if "_window_start" in row:
        tens = int(row["_window_start"][14:16]) * 6 + int(row["_window_start"][17:18])
        row = {"k": row["k"], "n": row["n"], "tens": tens}
    return str(sorted(row.items()))


def pipeline(folder: Path) -> str:
    return f"{source(folder / 'rows')} as rows\n{source(folder / 'other')} as other\n{PIPELINE}"


def written(rows: Input, other: Input, folder: Path) -> str:
    rows.write(folder / "rows")
    other.write(folder / "other")
    return pipeline(folder)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_batch_stream_and_restarted_stream_agree(trial: Trial, tmp_path: Path, seed: int) -> None:
    rows, other = random_input(seed, 80, 3), random_input(seed + 100, 60, 3)
    wanted = comparable(expected(list(rows.rows), list(other.rows)))
    text = written(rows, other, tmp_path / "all")
    assert comparable(trial.batches(text)) == wanted
    restarted: dict[str, list[Row]] = defaultdict(list)
    growing = tmp_path / "growing"
    for number in (n for n, _ in zip(rows.arriving(growing / "rows"), other.arriving(growing / "other"), strict=True)):
        if number % 2 == 1:
            for sink, found in trial.streams(pipeline(growing), tmp_path / "checkpoint").items():
                restarted[sink] += found
    assert comparable(restarted) == wanted


LEFT = replace(Schema.parse("k STRING, v BIGINT, ts TIMESTAMP"), event_time="ts")
RIGHT = replace(Schema.parse("k STRING, w STRUCT<x:INT>, at TIMESTAMP"), event_time="at")


def output(on: str, left: Schema = LEFT, right: Schema = RIGHT, **settings: Any) -> Schema:
    join = Catalogue().get("join")
    config = join.configure({"on": on, **(settings or {"window": "1s"})})
    return join.output_schema(config, {"left": left, "right": right})


def test_the_schema_of_a_join() -> None:
    made = output("left.k = right.k AND left.v = right.w.x", before="1s")
    assert str(made) == "k STRING, v BIGINT, ts TIMESTAMP, w STRUCT<x:INT>, at TIMESTAMP"
    assert made.event_time == "ts"
    assert output("left.k = right.k", kind="right", after="1s").event_time == "at"
    assert output("left.k = right.k", kind="full", after="1s").event_time is None
    assert output("left.k = right.k", window="1s").event_time == "_event_time"


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("left.k = right.kk", "unknown column 'kk'"),
        ("k = right.k", "k does not say of which side"),
        ("left.v < right.w.x", "needs a column of the left that equals"),
        ("left.k = left.k", "needs a column of the left that equals"),
        ("left.k = right.k OR left.v = right.w.x", "needs a column of the left that equals"),
        ("count(left.k) = right.k", "aggregate"),
        ("left.v = right.w.x", "'k' comes out twice"),
    ],
)
def test_conditions_that_do_not_fit(on: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(on)


def test_a_join_without_event_time_would_never_end() -> None:
    with pytest.raises(InvalidInput, match="rows of the right have no event time"):
        output("left.k = right.k", right=replace(RIGHT, event_time=None))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "without a bound in time"),
        ({"before": "1s", "window": "1s"}, "before, after and window are set"),
        ({"window": "0s"}, "window has no length"),
        ({"window": "10s", "every": "0s"}, "every has no length"),
        ({"window": "10s", "every": "20s"}, "window must be 1 to"),
        ({"after": "10s", "every": "1s"}, "every is set without window"),
        ({"kind": "cross", "after": "1s"}, "cannot be 'cross'"),
        ({"after": "1s", "late": "dead_letter"}, "go together"),
        ({"after": "1s", "late": "update_previous"}, "cannot be 'update_previous'"),
    ],
)
def test_a_join_is_bounded(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        Catalogue().get("join").configure({"on": "left.k = right.k", **settings})


def test_inputs_of_a_union_have_the_same_columns() -> None:
    union = Catalogue().get("union")
    first = replace(Schema.parse("a INT, ts TIMESTAMP"), event_time="ts")
    swapped = replace(Schema.parse("TS TIMESTAMP, A INT"), event_time="TS")
    assert union.output_schema(union.configure({}), {"in_2": swapped, "in": first}).event_time == "ts"
    assert union.output_schema(union.configure({}), {"in": first, "in_2": Schema(first.columns)}).event_time is None
    for other, message in (("a INT", "'ts'"), ("a INT, ts TIMESTAMP, b INT", "'b'"), ("a STRING, ts TIMESTAMP", "INT")):
        with pytest.raises(InvalidInput, match=message):
            union.output_schema(union.configure({}), {"in": first, "in_2": Schema.parse(other)})


def test_joins_and_unions_in_python() -> None:
    pipeline = Builder("x")
    one, two = (pipeline.topic(name, schema="k STRING, ts TIMESTAMP", event_time="ts") for name in "ab")
    one.union(two).join(one.select("k AS key", "ts AS at"), "left.k = right.key", after="1h").preview()
    text = """
        topic a schema="k STRING, ts TIMESTAMP" event_time=ts ! union ! @join_1.left
        topic b schema="k STRING, ts TIMESTAMP" event_time=ts ! @union_1.in_2
        @topic_1 ! select "k AS key" "ts AS at" ! @join_1.right
        join "left.k = right.key" after=1h ! preview
    """
    assert pipeline.document() == parse_text(text, Catalogue(), name="x")
    scope: dict[str, Any] = {}
    exec(to_python(pipeline.document()), scope)
    assert scope["pipeline"].document() == pipeline.document()
