"""Pipelines of every kind, the rows that they read, and what they wrote: shared by the maker of old directories and by
the test that opens them. It uses only what every release offers: HTTP, SQL and Kafka clients."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace.server.client import ServerClient

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
KEYS: Final = 5
SETTLE_TIMEOUT_S: Final = 240.0
POLL_S: Final = 0.5
# So often in a row nothing may have moved.
CALM_LOOKS: Final = 4
# What an old release has read, what was under way when it was killed, and what comes after that.
BEFORE: Final = range(200)
UNDER_WAY: Final = range(200, 300)
AFTER_CRASH: Final = range(300, 400)
# The time of the last rows: every window, join and buffer that waits for event time ends.
END: Final = timedelta(hours=6)

_EVENTS = """CREATE STREAM events (k STRING, n BIGINT, v DOUBLE, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) WITH (topic = 'events', format = 'json');"""
_OTHERS = """CREATE STREAM others (k STRING, w BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) WITH (topic = 'others', format = 'json');"""

# Pipeline → its SQL. It writes to the topic `out.<pipeline>`, and to nothing else unless said.
SQL: Final = {
    "rows": f"{_EVENTS} CREATE STREAM o WITH (topic = 'out.rows') AS"
    " SELECT k, n * 2 AS twice FROM events WHERE n % 3 = 0;",
    "branches": f"""{_EVENTS}
      CREATE STREAM a WITH (topic = 'out.branches') AS SELECT k, n FROM events WHERE n % 2 = 0;
      CREATE STREAM b WITH (topic = 'out.branches-odd') AS SELECT k, v FROM events WHERE n % 2 = 1;""",
    "tumbling": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.tumbling') AS
      SELECT k, count(*) AS c, sum(n) AS s, _window_start FROM events GROUP BY k WINDOW TUMBLING(50s) EMIT FINAL;""",
    "tumbling-in-spark": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.tumbling-in-spark') AS
      SELECT k, count(*) AS c, max_by(n, v) AS m, _window_start
      FROM events GROUP BY k WINDOW TUMBLING(50s) EMIT FINAL;""",
    "sliding": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.sliding') AS
      SELECT k, max(n) AS m, _window_start FROM events GROUP BY k WINDOW SLIDING(ts, 60s, 30s) EMIT FINAL;""",
    "sessions": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.sessions') AS
      SELECT k, count(*) AS c, _window_start
      FROM events WHERE n % 100 < 60 GROUP BY k WINDOW SESSION(20s) EMIT FINAL;""",
    "changes": f"""{_EVENTS} CREATE TABLE sums WITH (topic = 'out.changes') AS
      SELECT k PRIMARY KEY, count(*) AS c, sum(n) AS s FROM events GROUP BY k;""",
    "top": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.top') AS SELECT * FROM (
      SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, n) AS place FROM events) WHERE place <= 2;""",
    "joined": f"""{_EVENTS} {_OTHERS} CREATE STREAM o WITH (topic = 'out.joined') AS
      SELECT e.k, e.n, o.w FROM events AS e JOIN others AS o ON e.k = o.k WITHIN 10 SECONDS;""",
    "left-joined": f"""{_EVENTS} {_OTHERS} CREATE STREAM o WITH (topic = 'out.left-joined') AS
      SELECT e.k, e.n, o.w FROM events AS e LEFT JOIN others AS o ON e.k = o.k WITHIN 10 SECONDS;""",
    "looked-up": f"""{_EVENTS} CREATE TABLE names (k STRING PRIMARY KEY, name STRING) WITH (topic = 'names');
      CREATE STREAM o WITH (topic = 'out.looked-up') AS
      SELECT e.k, e.n, names.name FROM events AS e LEFT JOIN names ON e.k = names.k;""",
    "asof": f"""{_EVENTS} {_OTHERS} CREATE STREAM o WITH (topic = 'out.asof') AS
      SELECT e.k, n, w FROM events AS e ASOF LEFT JOIN others AS o ON e.k = o.k AND e.ts >= o.ts;""",
    "over": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.over') AS
      SELECT k, n, sum(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s
      FROM events;""",
    "rates": f"""{_EVENTS} CREATE STREAM o WITH (topic = 'out.rates') AS
      SELECT k, n FROM events OUTPUT LAST EVERY 30 SECONDS;""",
}

_TOPIC = 'topic events schema="k STRING, n BIGINT, v DOUBLE, ts TIMESTAMP"'
TEXT: Final = {
    "once": f"{_TOPIC} ! deduplicate k ! to-topic out.once key=k",
    "lengths": f'{_TOPIC} ! length-window 4 keys=k aggregates=["sum(n) AS total"] ! select k n total'
    " ! to-topic out.lengths key=k",
    "paused": f"{_TOPIC} ! deduplicate n ! to-topic out.paused key=k",
    "stopped": f"{_TOPIC} ! deduplicate n ! to-topic out.stopped key=k",
    "letters": f"{_TOPIC} bad_rows=dead_letter dead_letter=out.letters-bad"
    ' ! filter "n % 40 = 0" ! to-topic out.letters',
}

PAUSED, STOPPED = "paused", "stopped"
# Which row is emitted for these depends on how the stream was cut: only the newest record of each key has a meaning.
# Dead letters hold offsets and times of their own.
COUNTED: Final = {"out.letters-bad"}
# Pipelines whose state was in Spark's store, and is in lanes now: the user says where they begin.
MOVED: Final = ("left-joined", "tumbling-in-spark")
UPSERTS: Final = {"out.changes": ("k",), "out.top": ("k", "place")}


def pipelines() -> Iterator[dict[str, Any]]:
    """As the HTTP API takes them."""
    yield from ({"name": name, "sql": f"-- @name {name}\n{sql}"} for name, sql in SQL.items())
    yield from ({"name": name, "text": text} for name, text in TEXT.items())


def feed(bootstrap: str, numbers: range) -> None:
    """The rows with these numbers, and a bad record."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in numbers:
        _send(producer, "events", _event(number, EPOCH + timedelta(seconds=number)))
        if number % 7 == 0:
            _send(producer, "others", _other(number, EPOCH + timedelta(seconds=number)))
    producer.produce("events", key=b"k0", value=b"not JSON")
    assert producer.flush(60) == 0


def finish(bootstrap: str) -> None:
    """Rows that end all waiting. All others must be read before: a topic that is ahead may make the rest late."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(KEYS):
        _send(producer, "events", _event(10_000 + number, EPOCH + END))
        _send(producer, "others", _other(10_000 + number, EPOCH + END))
    assert producer.flush(60) == 0


def go_on(client: ServerClient, bootstrap: str) -> None:
    """What happens after the crash: all pipelines read the rest, to its end."""
    client.signal({"kind": "resume", "pipeline": PAUSED})
    client.start(STOPPED)
    feed(bootstrap, AFTER_CRASH)
    wait_settled(client)
    finish(bootstrap)
    wait_settled(client)


def prepare(bootstrap: str) -> None:
    """The topics, and the table that rows are looked up in."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    compacted = {"cleanup.policy": "compact"}
    wanted = [NewTopic("events", 2), NewTopic("others", 1), NewTopic("names", 1, config=compacted)]
    for made in admin.create_topics(wanted).values():
        made.result(30)
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(0, KEYS, 2):
        _send(producer, "names", {"k": f"k{number}", "name": f"name of {number}"})
    assert producer.flush(60) == 0


def outputs() -> list[str]:
    """All topics that the pipelines write to."""
    return [f"out.{name}" for name in (*SQL, *TEXT)] + ["out.branches-odd", "out.letters-bad"]


def records(bootstrap: str, topics: Iterable[str]) -> dict[str, list[str]]:
    """Topic → its committed records, sorted; of upserts the newest of each key."""
    return {topic: _meaning(topic, _values(bootstrap, topic)) for topic in topics}


def wait_settled(client: ServerClient) -> None:
    """Every pipeline runs, has read all that its topics hold, and has nothing under way."""
    deadline_s, calm = time.monotonic() + SETTLE_TIMEOUT_S, 0
    before: dict[str, list[int]] = {}
    while calm < CALM_LOOKS:
        jobs = {job["pipeline"]: job for job in client.jobs() if job["state"] == "running"}
        batches = {name: [query["batch"] for query in job["queries"]] for name, job in jobs.items()}
        behind = {name: [query["lag"] for query in job["queries"]] for name, job in jobs.items()}
        lag = sum(lag for lags in behind.values() for by_partition in lags for lag in by_partition.values())
        is_calm = lag == 0 and batches == before and jobs.keys() == {*SQL, *TEXT}
        calm, before = calm + 1 if is_calm else 0, batches
        assert time.monotonic() < deadline_s, f"not settled: {behind}"
        time.sleep(POLL_S)


def _event(number: int, at: datetime) -> dict[str, Any]:
    return {"k": f"k{number % KEYS}", "n": number, "v": number / 2, "ts": at.isoformat()}


def _other(number: int, at: datetime) -> dict[str, Any]:
    return {"k": f"k{number % KEYS}", "w": number, "ts": at.isoformat()}


def _send(producer: Producer, topic: str, row: dict[str, Any]) -> None:
    producer.produce(topic, key=row["k"].encode(), value=json.dumps(row).encode())


def _values(bootstrap: str, topic: str) -> list[str]:
    settings = {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.partition.eof": True})
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        found: list[str] = []
        ended = 0
        while ended < len(partitions):
            message = consumer.poll(30)
            assert message is not None, f"no answer for {topic}"
            if message.error():
                ended += 1
            else:
                value = message.value()
                found.append("null" if value is None else value.decode())
        return found
    finally:
        consumer.close()


def _meaning(topic: str, values: list[str]) -> list[str]:
    if topic in COUNTED:
        return [f"{len(values)} records"]
    keys = UPSERTS.get(topic)
    if keys is None:
        return sorted(values)
    newest = {tuple(row[key] for key in keys): value for value in values for row in [json.loads(value)]}
    return sorted(newest.values())
