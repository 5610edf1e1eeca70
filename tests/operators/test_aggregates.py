"""Every aggregate over every type it takes, in a chain with cuts and crashes, beside Spark's batch: compared as its
class declares."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from tests.operators.serial_cases import CATALOGUE, CRASHES, output, run_after_crash

from headrace.errors import HeadraceError
from headrace.graph import Json, Node, Schema
from headrace.operators.aggregates import KINDS, TWO_VALUES, OfValues
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.columnar.types import NotExact
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import OperatorFailed
from headrace.testing import ChainTester, cut

if TYPE_CHECKING:
    from headrace.operators.aggregates.kind import Kind
    from headrace.operators.testing import Trial

NAN, INF = math.nan, math.inf
# By column: its type, plain values, and those on which an aggregate may stumble.
COLUMNS: dict[str, tuple[str, list[Any], list[Any]]] = {
    "b": ("BOOLEAN", [True, False], []),
    "t": ("TINYINT", [1, 2, -3, 100], [-128, 127]),
    "i": ("INT", [0, 1, -7, 40], [2**31 - 1, -(2**31)]),
    "n": ("BIGINT", [0, 5, -5, 2**40], [2**53 + 1]),
    "f": ("FLOAT", [0.5, -1.5, 3.25], [NAN, INF, -0.0, 0.0]),
    "x": ("DOUBLE", [0.1, -1.7, 2.0, 100.25], [NAN, INF, -INF, -0.0, 0.0]),
    "m": ("DECIMAL(10,2)", [Decimal("1.50"), Decimal("-0.01"), Decimal("7.00")], [Decimal("99999999.99")]),
    "h": ("DECIMAL(38,4)", [Decimal("0.3333"), Decimal(-2)], [Decimal("1e30"), Decimal("-1e30")]),
    "d": ("DATE", [date(2026, 1, 1), date(1969, 12, 31), date(2000, 2, 29)], []),
    "s": ("STRING", ["", "a", "z", "é", "\U0001f600", "\uffff"], []),
    "y": ("BINARY", [b"", b"\x00", b"\xff", b"a"], []),
    "ts": ("TIMESTAMP", [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second) for second in range(4)], []),
}
SCHEMA = Schema.parse(", ".join(["k STRING", *(f"{name} {type_}" for name, (type_, *_) in COLUMNS.items())]))
CONSTANTS = {"percentile": ", 0.3", "percentile_approx": ", 0.3", "approx_percentile": ", 0.3", "listagg": ", '-'"}
MORE = {
    "first(x) IGNORE NULLS": "exact", "last(s) IGNORE NULLS": "exact", "any_value(n, true)": "exact",
    "first(x) FILTER (WHERE i > 0)": "exact", "last(n) FILTER (WHERE b)": "exact", "count_if(b)": "exact",
    "count_if(i > 0) FILTER (WHERE b)": "exact", "stddev(x) FILTER (WHERE i > 0)": "close",
    "max_by(s, x) FILTER (WHERE b)": "exact", "collect_list(i) FILTER (WHERE x > 0)": "exact",
    "percentile(i, array(0.0, 0.25, 1.0))": "close", "approx_percentile(x, array(0.1, 0.9))": "exact",
    "percentile(n, 1)": "close", "count(DISTINCT x)": "exact", "count(DISTINCT m)": "exact",
    "count(DISTINCT y) FILTER (WHERE b)": "exact", "count(DISTINCT f)": "exact", "stddev_pop(i + n)": "close",
}  # fmt: skip


def over_every_type(kind: Kind) -> Iterator[tuple[str, str]]:
    for function in kind.names:
        for name, (type_, *_) in COLUMNS.items():
            others = ("i", "x", "s", "m") if function in TWO_VALUES else ("",)
            for other in others:
                types = [type_, COLUMNS[other][0]] if other else [type_]
                try:
                    kind.result_type(function, types)
                except NotExact:
                    continue
                second = f", {other}" if other else CONSTANTS.get(function, "")
                yield f"{function}({name}{second})", kind.compared


ITEMS = dict(pair for kind in KINDS for pair in over_every_type(kind)) | MORE


def group_rows(chance: random.Random, key: str) -> list[dict[str, Any]]:
    """Of plain values; of all; of nulls only; one row; one value."""
    count = {"one": 1, "null": 3}.get(key, 40)
    rows = []
    for _ in range(count):
        row: dict[str, Any] = {"k": key}
        for name, (_, plain, odd) in COLUMNS.items():
            values = [*plain, *odd, None] if key == "odd" else [*plain, None] if key == "plain" else plain
            row[name] = None if key == "null" else values[0] if key == "same" else chance.choice(values)
        rows.append(row)
    return rows


def batch_of(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=arrow_schema(SCHEMA))


def in_chain(rows: pa.RecordBatch, items: Sequence[str], keys: Sequence[str], seed: int) -> list[tuple[Any, ...]]:
    """The last row of each key, of micro-batches at random places, each of which crashes once in one of the ways."""
    chance = random.Random(seed)
    config: dict[str, Json] = {"keys": list(keys), "aggregates": list(items)}
    plan = ChainPlan.line((Node("it", "aggregate", config),), SCHEMA)
    tester = ChainTester(lambda: plan.chain(CATALOGUE))
    places = [0, *sorted(chance.sample(range(rows.num_rows), 4)), rows.num_rows]
    for start, stop in pairwise(places):
        run_after_crash(tester, chance.choice(["", *CRASHES]), *cut(rows.slice(start, stop - start), [1]))
    tester.end()
    return list({repr(row[: len(keys)]): row for row in output(tester)}.values())


def in_spark(rows: pa.RecordBatch, items: Sequence[str], keys: Sequence[str], trial: Trial) -> list[tuple[Any, ...]]:
    frame = trial.spark.createDataFrame(pa.Table.from_batches([rows])).coalesce(1)
    operator = CATALOGUE.get("aggregate")
    config = operator.configure({"keys": list(keys), "aggregates": list(items)})
    made = operator.compile(config, {"in": frame}, cast("Any", None)).toArrow()
    return [tuple(row.values()) for row in made.to_pylist()]


def is_alike(compared: str, ours: Any, theirs: Any, values: Sequence[Any]) -> bool:
    if compared == "set" and ours is not None:
        split = [sorted(map(repr, one.split("-") if isinstance(one, str) else one)) for one in (ours, theirs)]
        return split[0] == split[1]
    if compared == "tie" and ours is not None:
        of_ours, of_theirs = (
            sum(one == value or repr(one) == repr(value) for value in values) for one in (ours, theirs)
        )
        return bool(of_ours == of_theirs > 0)
    if compared == "close" and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(is_close, ours, theirs))
    if compared == "close":
        return is_close(ours, theirs)
    # NaN is not equal to itself; of texts it is.
    return bool(ours == theirs) or repr(ours) == repr(theirs)


def is_close(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.spark
def test_as_in_sparks_batch(trial: Trial) -> None:
    chance = random.Random(7)
    groups = {key: group_rows(chance, key) for key in ("plain", "odd", "null", "one", "same")}
    rows = [row for of_key in groups.values() for row in of_key]
    chance.shuffle(rows)
    batch, named = batch_of(rows), [f"{text} AS a{number}" for number, text in enumerate(ITEMS)]
    theirs = {row[0]: row[1:] for row in in_spark(batch, named, ["k"], trial)}
    wrong = []
    for seed in (1, 2):
        ours = {row[0]: row[1:] for row in in_chain(batch, named, ["k"], seed)}
        assert ours.keys() == theirs.keys()
        for key, of_key in ours.items():
            for (text, compared), one, other in zip(ITEMS.items(), of_key, theirs[key], strict=True):
                column = text.partition("(")[2].partition(")")[0]
                values = [row.get(column) for row in groups[key]]
                if not is_alike(compared, one, other, values):
                    wrong.append((text, key, one, other))
    assert wrong == []


KEYS: dict[str, tuple[list[str], list[Any]]] = {
    "doubles": (["x"], [0.0, -0.0, NAN, -NAN, 1.5, INF, None]),
    "floats": (["f"], [0.0, -0.0, NAN, 1.5, None]),
    "decimals": (["m"], [Decimal("1.50"), Decimal("0.00"), Decimal("-1.50"), None]),
    "bytes": (["y"], [b"", b"\x00", b"\xff", None]),
    "times": (["ts"], [datetime(2026, 1, 1, tzinfo=UTC), datetime(1960, 1, 1, tzinfo=UTC), None]),
}


@pytest.mark.spark
def test_keys_as_spark_groups_them(trial: Trial) -> None:
    for keys, values in KEYS.values():
        rows = [
            {**group_rows(random.Random(number), "one")[0], keys[0]: values[number % len(values)]}
            for number in range(30)
        ]
        batch, items = batch_of(rows), ["count(*) AS c", "collect_list(i) AS l", "sum(m) AS start"]
        ours, theirs = in_chain(batch, items, keys, 3), in_spark(batch, items, keys, trial)
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs))


def test_a_key_may_be_called_as_state_is() -> None:
    schema = Schema.parse("start STRING, v0 BIGINT, _number BIGINT, i INT")
    config: dict[str, Json] = {"keys": ["start", "v0", "_number"], "aggregates": ["max(i) AS m", "median(i) AS d"]}
    plan = ChainPlan.line((Node("it", "aggregate", config),), schema)
    tester = ChainTester(lambda: plan.chain(CATALOGUE))
    for value in (4, 9):
        row = {"start": "a", "v0": 7, "_number": 8, "i": value}
        run_after_crash(tester, "commit", pa.RecordBatch.from_pylist([row], schema=arrow_schema(schema)))
    assert output(tester)[-1] == ("a", 7, 8, 9, 6.5)


@pytest.mark.parametrize(
    ("item", "values"),
    [
        ("sum(h) AS s", [Decimal("9e33"), Decimal("9e33")]),
        ("avg(h) AS s", [Decimal("9e33")]),
        ("sum(n) AS s", [2**62, 2**62]),
    ],
)
def test_what_does_not_fit_fails_as_in_spark(item: str, values: list[Any]) -> None:
    rows = batch_of([{"k": "a", item[4]: value} for value in [*values, *([None] * 4)]])
    with pytest.raises((HeadraceError, OperatorFailed), match="does not fit its type"):
        in_chain(rows, [item], ["k"], 1)


def test_values_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.operators.group_values.KEPT_VALUES_MAX", 5)
    rows = batch_of([{"k": "a", "i": number} for number in range(6)])
    with pytest.raises((HeadraceError, OperatorFailed), match="more than 5 values of open groups"):
        in_chain(rows, ["median(i) AS m"], ["k"], 1)


def test_values_of_closed_windows_go() -> None:
    kinds = [kind for kind in KINDS if isinstance(kind, OfValues)]
    assert len(kinds) > 4
    config: dict[str, Json] = {
        "size": "10s", "time": "ts", "keys": ["k"], "emit": "final", "aggregates": ["median(i) AS m", "mode(i) AS o"],
    }  # fmt: skip
    schema = Schema(SCHEMA.columns, event_time="ts")
    plan = ChainPlan.line((Node("it", "tumbling-window", config),), schema)
    tester = ChainTester(lambda: plan.chain(CATALOGUE), event_time="ts", delay_us=0)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for second in (1, 2, 3, 11, 12, 30):
        tester.run(batch_of([{"k": "a", "i": second, "ts": start + timedelta(seconds=second)}]))
    tester.end()
    assert [row[2:5] for row in output(tester)] == [("a", 2.0, 1), ("a", 11.5, 11), ("a", 30.0, 30)]
