"""Patterns, deduplication, scores, lookups and functions against references, with cuts and crashes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.operators.serial_cases import SCHEMA, Case, Row, as_batch, at, output, plans, rows_strategy, same_both_ways

from headrace.errors import HeadraceError, InvalidInput, InvalidSyntax
from headrace.graph import Json, Schema
from headrace.operators import Catalogue
from headrace.operators.samples import Value
from headrace.serial import OperatorFailed, StateStore, per_row

WITHIN = 6


def pattern_reference(rows: Sequence[Row], *, absent: bool) -> list[tuple[Any, ...]]:
    """First: n > 0. Then: n < 10. A row may be both, or neither."""
    out: list[tuple[Any, ...]] = []
    waiting: dict[str | None, Row] = {}
    for row in rows:
        key, number, _, second = row
        if number is None:
            continue
        before = waiting.get(key)
        if before is not None and second - before[3] > WITHIN:
            if absent:
                out.append((key, at(before[3]), None, before[2]))
            waiting.pop(key)
        elif before is not None and number < 10:
            if second >= before[3] and not absent:
                out.append((key, at(before[3]), at(second), before[2]))
            waiting.pop(key)
        if number > 0:
            waiting[key] = row
    if absent:
        out += [(key, at(row[3]), None, row[2]) for key, row in waiting.items()]
    return out


@pytest.mark.parametrize("absent", [False, True])
@settings(max_examples=50, deadline=None)
@given(rows=rows_strategy(), plan=plans)
def test_followed_by(absent: bool, rows: list[Row], plan: list[tuple[int, str]]) -> None:
    config: dict[str, Json] = {
        "first": "n > 0", "then": "NOT n >= 10", "within": "6s", "time": "ts", "keys": ["k"], "carry": ["x"],
        "absent": absent,
    }  # fmt: skip
    case = Case("followed-by", config)
    same_both_ways(case, lambda given: pattern_reference(given, absent=absent), rows, plan)


def deduplicate_reference(rows: Sequence[Row], within: int | None) -> list[tuple[Any, ...]]:
    seen: dict[tuple[Any, Any], int] = {}
    out = []
    for row in rows:
        key = row[:2]
        if key not in seen or (within is not None and row[3] > seen[key] + within):
            seen[key] = row[3]
            out.append((*row[:3], at(row[3])))
    return out


@pytest.mark.parametrize("within", [None, 5])
@settings(max_examples=40, deadline=None)
@given(rows=rows_strategy(), plan=plans)
def test_deduplicate(within: int | None, rows: list[Row], plan: list[tuple[int, str]]) -> None:
    rows = [(k, None if k == "a" else 1, x, t) for k, _, x, t in rows]
    config: dict[str, Json] = {"keys": ["k", "n"]}
    case = Case("deduplicate", config if within is None else {**config, "within": f"{within}s", "time": "ts"})
    same_both_ways(case, lambda given: deduplicate_reference(given, within), rows, plan)


@pytest.mark.parametrize(("later_us", "is_let_through"), [(5_000_000, False), (5_000_001, True)])
def test_deduplicate_remembers_up_to_and_with_the_last_microsecond(later_us: int, is_let_through: bool) -> None:
    tester = Case("deduplicate", {"keys": ["k"], "within": "5s", "time": "ts"}).tester()
    rows = as_batch([("a", 1, 1.0, 0)])
    tester.run(rows)
    # The watermark stands exactly at the time of the second row, so that its timer has had its chance.
    times = pa.array([later_us], pa.int64()).view(pa.timestamp("us", tz="UTC"))
    later = rows.set_column(rows.schema.get_field_index("ts"), "ts", times)
    tester.run(later.set_column(later.schema.get_field_index("k"), "k", pa.array(["other"])))
    assert (tester.run(later) is not None) == is_let_through


def test_what_deduplicate_forgot_is_gone_from_its_state() -> None:
    tester = Case("deduplicate", {"keys": ["k"], "within": "5s", "time": "ts"}).tester()
    tester.run(as_batch([("a", 1, None, 100), ("b", 1, None, 200)]))
    tester.run(as_batch([("c", 1, None, 200)]))
    state = StateStore(tester.files).load("it", 0, tester.versions["it"])
    assert len(state.table("seen", [("k", pa.string())], [("at", pa.int64())])) == 2


def summed(matrix: np.ndarray[Any, Any]) -> Any:
    """A model that knows nulls as NaN."""
    return np.nansum(matrix, axis=1)


def score_reference(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    return [(key, n, x, at(second), float((n or 0) + (x or 0))) for key, n, x, second in rows]


@settings(max_examples=50, deadline=None)
@given(rows=rows_strategy(), plan=plans)
def test_score(rows: list[Row], plan: list[tuple[int, str]]) -> None:
    case = Case("score", {"model": f"{__name__}:summed", "features": ["n", "x"]})
    same_both_ways(case, score_reference, rows, plan)


class Loaded:
    loads = 0

    def predict(self, matrix: Any) -> list[float]:
        return [float(row[0]) + 1 for row in matrix]


def load_model() -> Loaded:
    Loaded.loads += 1
    return Loaded()


def test_a_model_is_loaded_once() -> None:
    case = Case("score", {"model": f"{__name__}:load_model", "features": ["n"], "into": "next"})
    assert [case.batch([("a", 2, None, 1)])[0][-1] for _ in range(3)] == [3.0] * 3
    assert Loaded.loads == 1


@per_row
def reciprocal(row: Value) -> Value:
    return Value(100 // row.value)


VALUES = Schema.parse("value BIGINT, other STRING")


def test_python_function_and_its_bad_rows() -> None:
    config: dict[str, Json] = {"function": f"{__name__}:reciprocal"}
    rows: dict[str, list[Any]] = {"value": [4, 0, 5], "other": ["a", "b", "c"]}
    tester = Case("python", {**config, "on_error": "dead_letter", "dead_letter": "bad"}, VALUES).tester()
    tester.run(rows)
    assert output(tester) == [(25,), (20,)]
    assert [letter.row for letter in tester.dead_letters] == ['{"value": 0, "other": "b"}']
    with pytest.raises(OperatorFailed, match="ZeroDivisionError"):
        Case("python", config, VALUES).tester().run(rows)


@pytest.mark.parametrize(
    ("operator", "config", "message"),
    [
        ("python", {"function": "nowhere:f"}, "'nowhere' cannot be imported"),
        ("python", {"function": "json:dumps"}, "is no operator"),
        ("python", {"function": "json"}, "names no Python object"),
        ("python", {"function": "headrace.operators.samples:doubled"}, "unknown column 'value'"),
        ("score", {"model": "headrace.operators.samples:mean_model", "features": ["k"]}, "'k' is STRING"),
        ("http-lookup", {"url": "ftp://x"}, "is no address"),
        ("http-lookup", {"url": "http://x/{nothing}"}, "unknown column 'nothing'"),
        ("http-lookup", {"url": "http://x/{k"}, "cannot be read"),
        ("followed-by", {"first": "n", "then": "n > 1", "within": "1s", "time": "ts"}, "is BIGINT, not BOOLEAN"),
    ],
)
def test_settings_that_do_not_fit_the_rows(operator: str, config: dict[str, Json], message: str) -> None:
    found = Catalogue().get(operator)
    with pytest.raises(InvalidInput, match=message):
        found.output_schema(found.configure(config), {"in": SCHEMA})


def test_a_condition_that_cannot_be_evaluated_says_where() -> None:
    found = Catalogue().get("followed-by")
    config = found.configure({"first": "n > 1 AND upper(k) = 'A'", "then": "n > 1", "within": "1s", "time": "ts"})
    with pytest.raises(InvalidSyntax, match=r"UPPER\(k\) cannot stand in a pattern"):
        found.output_schema(config, {"in": SCHEMA})


@contextmanager
def web_service() -> Iterator[tuple[str, Counter[str], list[int]]]:
    """Answers `/name` with the name in capitals; counts requests by path, and how many were under way at once."""
    asked: Counter[str] = Counter()
    under_way: list[int] = [0]
    most = [0]
    lock = threading.Lock()
    together = threading.Barrier(3)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                asked[self.path] += 1
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            if self.path.startswith("/wait"):
                together.wait(20)
            with lock:
                under_way[0] -= 1
            body = self.path[1:].upper().encode()
            self.send_response(404 if self.path == "/none" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked, most
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_http_lookup() -> None:
    with web_service() as (url, _, _most):
        case = Case("http-lookup", {"url": url + "/{k}", "into": "up"})

        @settings(max_examples=10, deadline=None)
        @given(rows=rows_strategy(12), plan=plans)
        def agrees(rows: list[Row], plan: list[tuple[int, str]]) -> None:
            same_both_ways(case, lookup_reference, rows, plan)

        agrees()


def lookup_reference(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """What the service answers about the key; nothing is asked about a missing one."""
    return [(key, n, x, at(second), None if key is None else key.upper()) for key, n, x, second in rows]


def test_http_lookup_keeps_order_and_asks_once() -> None:
    with web_service() as (url, asked, _):
        case = Case("http-lookup", {"url": url + "/{k}", "into": "up"})
        rows: list[Row] = [(key, 1, None, 1) for key in ("b", "a", "b", "none", "a/c")]
        assert [row[-1] for row in case.batch(rows)] == ["B", "A", "B", None, "A%2FC"]
        assert asked == {"/a": 1, "/b": 1, "/none": 1, "/a%2Fc": 1}


def test_http_lookup_keeps_to_its_limit_and_uses_it() -> None:
    with web_service() as (url, _, most):
        case = Case("http-lookup", {"url": url + "/wait{n}", "in_flight": 3})
        # The service answers only three at a time: fewer in flight would hang, more would show in the count.
        assert len(case.batch([("a", n, None, 1) for n in range(9)])) == 9
        assert most == [3]


def test_rows_that_the_service_refuses() -> None:
    with web_service() as (url, _, _most):
        case = Case("http-lookup", {"url": url + "/{k}", "missing": [], "on_error": "drop"})
        assert [row[0] for row in case.batch([("a", 1, None, 1), ("none", 1, None, 1)])] == ["a"]


def test_http_lookup_uses_a_secret_and_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_SECRET_KEY", "p@ss{word}")
    with web_service() as (url, asked, _most):
        case = Case("http-lookup", {"url": url + "/${secret:KEY}/{k}"})
        assert [row[-1] for row in case.batch([("a", 1, None, 1)])] == ["P%40SS%7BWORD%7D/A"]
        assert asked == {"/p%40ss%7Bword%7D/a": 1}
    gone = Case("http-lookup", {"url": url + "/${secret:KEY}/{k}"})
    monkeypatch.setattr(httpx.AsyncClient, "get", refused)
    with pytest.raises(HeadraceError) as caught:
        gone.batch([("a", 1, None, 1)])
    assert "${secret:KEY}" in str(caught.value)
    assert "ss%7Bword" not in str(caught.value)


async def refused(client: httpx.AsyncClient, url: str) -> None:
    raise httpx.ConnectError(f"nobody answers at {url}")


KEEPING: list[tuple[str, dict[str, Json]]] = [
    ("deduplicate", {"keys": ["k"]}),
    ("length-window", {"length": 1, "aggregates": ["count(*) AS c"]}),
]


@pytest.mark.parametrize(("operator", "config"), KEEPING)
def test_event_time_goes_on_through_operators_that_keep_their_rows(operator: str, config: dict[str, Json]) -> None:
    found = Catalogue().get(operator)
    assert found.output_schema(found.configure(config), {"in": SCHEMA}).event_time == "ts"
