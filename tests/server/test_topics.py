from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, TopicPartition
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.log import codec as codec_module
from headrace.log import encode_batches
from headrace.log.testing import bomb
from headrace.server import browsing
from headrace.server.browsing import BUDGET_S, Browser, Question
from headrace.server.positions import parse_position
from headrace.wire.client import Client
from headrace.wire.client.errors import KafkaError
from headrace.wire.testing import BrokerProcess

COUNT = 20_000
FIRST_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data")
    broker.start()
    yield broker.bootstrap
    broker.stop()


@pytest.fixture(scope="module")
def numbers(bootstrap: str) -> str:
    """A topic of three partitions: the value n is at FIRST_MS + n ms, in partition n mod 3."""
    with Client(bootstrap) as client:
        client.create_topics({"numbers": 3})
        for partition in range(3):
            mine = range(partition, COUNT, 3)
            values = [json.dumps({"n": n}).encode() for n in mine]
            keys = [f"key-{n}".encode() for n in mine]
            for batch in encode_batches(keys, values, [FIRST_MS + n for n in mine], codec="lz4", batch_bytes=16_384):
                client.produce({"numbers": {partition: batch}})
    return "numbers"


def page(client: httpx.Client, topic: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/api/topics/{topic}/messages", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def values(found: dict[str, Any]) -> list[int]:
    return [message["value"]["value"]["n"] for message in found["messages"]]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is not cut short because the machine is busy."""
    monkeypatch.setattr(browsing, "BUDGET_S", 60.0)


def test_topics_are_created_listed_changed_and_deleted(client: httpx.Client) -> None:
    made = client.post("/api/topics", json={"name": "fresh", "partitions": 2, "config": {"retention.ms": "60000"}})
    assert made.status_code == 201, made.text
    assert {setting["name"]: setting["value"] for setting in made.json()["config"]}["retention.ms"] == "60000"
    changed = client.patch("/api/topics/fresh", json={"config": {"retention.ms": "70000"}, "partitions": 4})
    assert changed.status_code == 200, changed.text
    assert {setting["name"]: setting["value"] for setting in changed.json()["config"]}["retention.ms"] == "70000"
    assert len(changed.json()["partitions"]) == 4
    listed = {topic["name"]: topic for topic in client.get("/api/topics").json()["topics"]}
    assert (listed["fresh"]["partitions"], listed["fresh"]["messages"]) == (4, 0)
    assert client.post("/api/topics", json={"name": "fresh"}).status_code == 409
    refused = client.post("/api/topics", json={"name": "my topic"})
    assert (refused.status_code, refused.json()["message"]) == (400, "'my topic' is no topic name")
    assert refused.json()["valid"] == ["1 to 249 letters, digits, '.', '_' and '-'"]
    assert client.delete("/api/topics/fresh").json()["deleted"]
    assert client.get("/api/topics/fresh").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/topics", {"name": "a/b"}),
        ("POST", "/api/topics", {"name": "x", "partitions": 0}),
        ("POST", "/api/topics", {"name": "x", "config": {"no.such.setting": "1"}}),
        ("PATCH", "/api/topics/numbers", {"config": {"retention.ms": "soon"}}),
        ("PATCH", "/api/topics/numbers", {"partitions": 1}),
        ("POST", "/api/topics/numbers/messages", {"value": "no base64!", "value_encoding": "base64"}),
        ("POST", "/api/topics/numbers/messages", {"value": 5}),
        ("POST", "/api/groups/g/reset", {"topic": "numbers", "to": "yesterday"}),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(
    client: httpx.Client, numbers: str, method: str, path: str, body: dict[str, Any]
) -> None:
    response = client.request(method, path, json=body)
    assert response.status_code == 400, response.text
    assert response.json()["detail"]


@pytest.mark.parametrize("topic", ["__commits.shop.q", "__signals", "_schemas"])
def test_topics_of_our_own_parts_take_no_messages(client: httpx.Client, topic: str) -> None:
    """One junk record there could stop a pipeline."""
    answer = client.post(f"/api/topics/{topic}/messages", json={"value": "x"})
    assert answer.status_code == 400, answer.text
    assert "written by Headrace itself" in answer.text


def test_a_produced_message_is_read_back(client: httpx.Client) -> None:
    client.post("/api/topics", json={"name": "written", "partitions": 2})
    body = {"partition": 1, "key": "k", "value": {"a": [1, "é"]}, "value_encoding": "json", "headers": {"h": "v"}}
    sent = client.post("/api/topics/written/messages", json=body)
    assert (sent.status_code, sent.json()["partition"], sent.json()["offset"]) == (201, 1, 0)
    client.post("/api/topics/written/messages", json={"value": "/wD/", "value_encoding": "base64", "partition": 1})
    client.post("/api/topics/written/messages", json={"key": "gone", "partition": 1})
    tombstone, binary, first = page(client, "written")["messages"]
    assert first["value"] == {"encoding": "json", "value": {"a": [1, "é"]}, "size": 14}
    assert first["key"]["value"] == "k"
    assert first["headers"] == [{"name": "h", "content": {"encoding": "text", "value": "v", "size": 1}}]
    assert (binary["value"]["encoding"], binary["value"]["value"]) == ("base64", "/wD/")
    assert tombstone["value"]["encoding"] == "null"
    as_json = page(client, "written", format="json", **{"from": "offset:1"})["messages"][0]
    assert "no JSON" in as_json["error"]


@pytest.mark.usefixtures("patient")
def test_the_newest_messages_come_first_and_pages_go_back(client: httpx.Client, numbers: str) -> None:
    first = page(client, numbers, limit=7)
    assert values(first) == list(range(COUNT - 1, COUNT - 8, -1))
    second = page(client, numbers, limit=7, cursor=first["next"])
    assert values(second) == list(range(COUNT - 8, COUNT - 15, -1))
    assert not second["is_complete"]


@pytest.mark.usefixtures("patient")
def test_a_place_in_time_is_found_without_reading_what_is_before(client: httpx.Client, numbers: str) -> None:
    moment = datetime.fromtimestamp((FIRST_MS + 15_000) / 1000, UTC).isoformat()
    found = page(client, numbers, limit=5, **{"from": f"timestamp:{moment}"})
    assert values(found) == [15_000, 15_001, 15_002, 15_003, 15_004]
    assert found["scanned"] < COUNT


@pytest.mark.usefixtures("patient")
def test_offsets_beyond_the_log_are_its_ends(client: httpx.Client, numbers: str) -> None:
    assert values(page(client, numbers, limit=1, **{"from": "timestamp:0001-01-01T00:00:00+14:00"})) == [0]
    assert client.get(f"/api/topics/{numbers}/messages?partition={10**30}").status_code == 404
    assert page(client, numbers, **{"from": "offset:99999999"})["is_complete"]
    future = page(client, numbers, **{"from": "timestamp:2099-01-01"})
    assert (future["messages"], future["next"], future["is_complete"]) == ([], None, True)


@pytest.mark.usefixtures("patient")
def test_a_filter_finds_in_keys_and_values_in_both_directions(client: httpx.Client, numbers: str) -> None:
    found = page(client, numbers, filter='"n": 1234', **{"from": "earliest"})
    assert values(found) == [1234, *range(12340, 12350)]
    assert values(page(client, numbers, filter="KEY-4321")) == [4321]
    assert page(client, numbers, filter="no such text")["is_complete"]


@pytest.mark.usefixtures("patient")
def test_one_partition_can_be_read(client: httpx.Client, numbers: str) -> None:
    assert values(page(client, numbers, partition=1, limit=3, **{"from": "offset:10"})) == [31, 34, 37]
    assert client.get("/api/topics/numbers/messages?partition=3").status_code == 404


@pytest.mark.parametrize(
    "query", ["from=offset:-1", "from=now", "from=timestamp:then", "cursor=xyz", "cursor=e30", "limit=0"]
)
def test_wrong_places_are_refused(client: httpx.Client, numbers: str, query: str) -> None:
    assert client.get(f"/api/topics/numbers/messages?{query}").status_code == 400


def hurried(looks: int) -> Callable[[], float]:
    """A clock that passes the budget after a few looks at it."""
    numbers = itertools.count()
    return lambda: next(numbers) * BUDGET_S / looks


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limit=st.integers(20, 500), start=st.sampled_from(["earliest", "latest"]), ticks=st.integers(1, 6))
def test_pages_show_every_message_once_however_little_time_there_is(
    bootstrap: str, numbers: str, limit: int, start: str, ticks: int
) -> None:
    """A page may hold little then, but no message is lost or doubled, and partitions keep one order by time."""
    seen: list[int] = []
    remaining = COUNT + 1
    cursor: str | None = None
    with Client(bootstrap) as client:
        for _ in range(1_000):
            question = Question(numbers, parse_position(start), cursor=cursor, filter="77", limit=limit)
            found = Browser(client, question, hurried(ticks)).page()
            seen += [message.value.value["n"] for message in found.messages]
            cursor = found.next
            assert found.remaining < remaining
            remaining = found.remaining
            if found.is_complete:
                break
    assert remaining == 0
    expected = [n for n in range(COUNT) if "77" in str(n)]
    assert seen == (expected if start == "earliest" else expected[::-1])


def test_groups_show_lag_and_can_be_moved_once_they_are_empty(
    client: httpx.Client, bootstrap: str, numbers: str
) -> None:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "readers", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([numbers])
    read = consumer.consume(100, timeout=30)
    assert [message.error() for message in read] == [None] * 100
    consumer.commit(asynchronous=False)
    shown = client.get("/api/groups/readers").json()
    assert shown["state"] == "stable"
    assert {(p["topic"], p["partition"]) for m in shown["members"] for p in m["partitions"]} == {
        (numbers, partition) for partition in range(3)
    }
    lag = sum(offset["lag"] or 0 for offset in shown["offsets"])
    ahead = sum(offset["end_offset"] for offset in shown["offsets"] if offset["committed"] is None)
    assert lag + ahead == COUNT - len(read)
    (entry,) = [group for group in client.get("/api/groups").json()["groups"] if group["name"] == "readers"]
    assert (entry["members"], entry["topics"], entry["lag"]) == (1, [numbers], lag)

    wanted = {"topic": numbers, "to": "offset:50", "dry_run": False}
    busy = client.post("/api/groups/readers/reset", json=wanted)
    assert busy.status_code == 409, busy.text
    consumer.close()
    dry = client.post("/api/groups/readers/reset", json={**wanted, "dry_run": True}).json()
    assert [offset["new"] for offset in dry["offsets"]] == [50, 50, 50]
    unchanged = client.get("/api/groups/readers").json()["offsets"]
    committed = [offset["committed"] for offset in shown["offsets"] if offset["committed"] is not None]
    assert [offset["committed"] for offset in unchanged] == committed
    done = client.post("/api/groups/readers/reset", json=wanted)
    assert done.status_code == 200, done.text
    moved = client.get("/api/groups/readers").json()["offsets"]
    assert [offset["committed"] for offset in moved] == [50, 50, 50]
    assert client.get("/api/groups/nobody").status_code == 404


def test_what_a_topics_limit_did_is_in_the_metrics(client: httpx.Client, bootstrap: str) -> None:
    limits = {"headrace.backlog.policy": "drop_newest", "headrace.backlog.records": "3"}
    batch = next(encode_batches(None, [b"x"], [FIRST_MS]))
    with Client(bootstrap) as sender:
        sender.create_topics({"limited": 2}, limits)
        reader = Consumer({"bootstrap.servers": bootstrap, "group.id": "slow", "enable.auto.commit": False})
        reader.commit(offsets=[TopicPartition("limited", 0, 0)], asynchronous=False)
        reader.close()
        for _ in range(3):
            sender.produce({"limited": {0: batch}})
        with pytest.raises(KafkaError, match="POLICY_VIOLATION"):
            sender.produce({"limited": {0: batch}})
    metrics = client.get("/metrics").text
    assert 'headrace_topic_backlog_records{topic="limited"} 3.0' in metrics
    assert 'headrace_topic_refused_requests_total{topic="limited"} 1.0' in metrics
    assert 'headrace_topic_throttled_requests_total{topic="limited"} 0.0' in metrics
    assert "headrace_groups_max 100000.0" in metrics
    assert "headrace_groups_refused_requests_total 0.0" in metrics


@pytest.mark.parametrize("start", ["earliest", "latest"])
def test_a_batch_that_nobody_can_read_is_shown_as_one_message(
    bootstrap: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_module, "DECOMPRESSED_BYTES_MAX", 1 << 20)
    topic = f"bombed-{start}"
    with Client(bootstrap) as client:
        client.create_topics({topic: 1})
        for batch in (
            *encode_batches(None, [b"a"], [FIRST_MS]),
            bomb(2 << 20, record_count=3, time_ms=FIRST_MS + 1),
            *encode_batches(None, [b"b"], [FIRST_MS + 2]),
        ):
            client.produce({topic: {0: batch}})
        seen: list[tuple[int, bool]] = []
        cursor = None
        while True:
            question = Question(topic, parse_position(start), cursor=cursor, limit=1)
            found = Browser(client, question).page()
            seen += [(message.offset, "unpacks to more than" in (message.error or "")) for message in found.messages]
            if (cursor := found.next) is None:
                break
    assert sorted(seen) == [(0, False), (3, True), (4, False)]
