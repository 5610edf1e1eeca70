"""Signals on Spark: micro-batches end exactly at their cuts, and each kind does what it says."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.cut_groups import closed_windows, groups_between_cuts

from headrace.graph.document import Document
from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.jobs.sending import new_id, signal_to
from headrace.wire.client import Client
from headrace.wire.client.signals import send_signal

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

DEADLINE_S = 90.0
SCHEMA = 'schema="k STRING, n BIGINT, ts TIMESTAMP" event_time=ts watermark="1 day"'
# So wide that only a signal closes it.
WINDOW = 'time-window "1 day" time=ts keys=k aggregates=["count(*) AS c", "min(n) AS low", "max(n) AS high"]'


def eventually(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


def send(stack: Stack, document: Document, kind: str, **more: Any) -> SignalRecord:
    with Client(stack.bootstrap) as client:
        return send_signal(client, signal_to(document, kind, stack.engine.catalogue, **more))


def fates(stack: Stack, document: Document) -> dict[str, str]:
    """What became of each signal, by the events of the job."""
    events = stack.engine.events.history(document.name)
    return {str(e.details["id"]): str(e.details["fate"]) for e in events if e.kind == "signal"}


def rows(first: int, count: int) -> list[dict[str, Any]]:
    return [{"k": f"k{n % 4}", "n": n, "ts": "2026-01-01T00:00:00Z"} for n in range(first, first + count)]


@pytest.mark.parametrize("topic_count", [1, 2])
def test_windows_close_exactly_at_signals_between_concurrent_producers(stack: Stack, topic_count: int) -> None:
    sources, target = [stack.topic(f"in{number}") for number in range(topic_count)], stack.name("out")
    one, *others = [f"topic {source} {SCHEMA} max_rows_per_batch={7 + 60 * n}" for n, source in enumerate(sources)]
    text = f"{one} ! {WINDOW} partitioned=as_topic ! to-topic {target}"
    if others:
        text = f"{one} ! union as all ! {WINDOW} ! to-topic {target}\n{others[0]} ! @all.in_2"
    document = stack.pipeline(text)
    stack.engine.start(document)
    chance = random.Random(7)

    def produce(first: int) -> None:
        for start in range(first, first + 100, 5):
            stack.produce(sources[start // 5 % topic_count], rows(start, 5))

    producers = [threading.Thread(target=produce, args=(first,)) for first in (0, 1_000)]
    for producer in producers:
        producer.start()
    signals: list[SignalRecord] = []
    while any(producer.is_alive() for producer in producers) and len(signals) < 4:
        signals += [send(stack, document, "close_window") for _ in range(chance.choice([1, 2]))]
        time.sleep(chance.random() / 5)
    for producer in producers:
        producer.join()
    signals.append(send(stack, document, "close_window"))
    stack.finish(document)
    expected = groups_between_cuts(stack, sources, signals)
    assert closed_windows(stack, target) == expected
    assert sum(count for _, count, _, _ in expected) == 200
    assert set(fates(stack, document).values()) == {"handled"}
    assert stack.engine.status(document.name).queries[0].signals == {"handled": len(signals)}


def test_pause_resume_and_stop_take_effect_at_their_cut_and_through_restarts(stack: Stack) -> None:
    source, target = stack.topic("in", rows(0, 10)), stack.name("out")
    document = stack.pipeline(f"topic {source} {SCHEMA} ! select k n ! to-topic {target}")
    paused = send(stack, document, "pause")
    stack.produce(source, rows(10, 10))
    stack.engine.start(document)
    eventually(lambda: stack.engine.status(document.name).paused_by == paused.request.id)
    stack.engine.stop(document.name)
    stack.engine.start(document)
    assert stack.engine.status(document.name).paused_by == paused.request.id, "a pause outlives a restart"
    assert not stack.engine.wait_idle(document.name, 2.0)
    assert sorted(row["n"] for row in stack.rows(target)) == list(range(10))

    send(stack, document, "resume")
    stopped = send(stack, document, "stop")
    stack.produce(source, rows(20, 10))
    eventually(lambda: stack.engine.status(document.name).state == "stopped")
    assert sorted(row["n"] for row in stack.rows(target)) == list(range(20))
    assert stack.engine.status(document.name).paused_by is None
    last = [event for event in stack.engine.events.history(document.name) if event.kind == "stopped"][-1]
    assert last.details == {"signal": stopped.request.id}

    stack.run(document)
    assert sorted(row["n"] for row in stack.rows(target)) == list(range(30)), "started by hand it goes on"


def test_settings_change_at_the_cut_and_stay_and_what_nobody_handles_is_told(stack: Stack) -> None:
    source, target = stack.topic("in", [{"v": 1.0}]), stack.name("out")
    document = stack.pipeline(
        f'topic {source} schema="v DOUBLE" ! score headrace.operators.samples:mean_model features=v ! to-topic {target}'
    )
    (node,) = [node.id for node in document.nodes if node.operator == "score"]
    stack.engine.start(document)
    changed = send(stack, document, "update_parameters", node=node, parameters={"on_error": "drop"})
    # As a client that only speaks Kafka could: the job itself has to see that this may not be.
    topics, at = (source,), {"pipeline": document.name, "node": node}
    asked = SignalRequest(new_id(), "update_parameters", topics, parameters={"model": "builtins:len"}, **at)
    with Client(stack.bootstrap) as client:
        wrong = send_signal(client, asked)
    dropped = send(stack, document, "close_window", node=node)
    passed = send(stack, document, "close_window")
    snapshot = send(stack, document, "snapshot_metrics")
    stack.produce(source, [{"v": 2.0}])
    stack.finish(document)
    stack.produce(source, [{"v": 3.0}])
    stack.engine.start(document)
    eventually(lambda: len(stack.rows(target)) >= 3)
    assert stack.engine.status(document.name).parameters == {node: {"on_error": "drop"}}
    stack.finish(document)
    assert sorted((row["v"], row["score"]) for row in stack.rows(target)) == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    told = fates(stack, document)
    sent = [changed, wrong, dropped, passed, snapshot]
    assert [told[signal.request.id] for signal in sent] == ["handled", "dropped", "dropped", "passed", "handled"]
    events = {e.details.get("id"): e for e in stack.engine.events.history(document.name)}
    figures: Any = events[snapshot.request.id].details["figures"]
    assert figures["nodes"][node] == {"copied_bytes": 0, "copies": 0, "failed": 0, "rows_in": 1, "rows_out": 1}
