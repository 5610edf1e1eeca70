"""The whole of it: broker, server and Spark as `headrace up` runs them, driven as the editor drives them."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headrace.bench import processes
from headrace.server import BackgroundStack, StackSettings
from headrace.wire.users import set_password

START_TIMEOUT_S = 150
DEADLINE_S = 90
PASSWORD = "correct horse"

PIPELINE = (
    'generator 200 columns=["value AS n", "value % 3 AS kind"] as made'
    ' ! filter "kind = 1" as some ! to-topic kept as kept'
)


@pytest.fixture(scope="module")
def broker_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory, broker_port: int) -> Iterator[httpx.Client]:
    """A browser: logged in by the URL that `headrace up` prints, and telling its origin.

    The broker lets nobody in without a password, as with `headrace up --broker-config`.
    """
    data, config = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("config") / "broker.toml"
    config.write_text('sasl_mechanisms = ["SCRAM-SHA-256"]\nsuper_users = ["admin"]\n')
    set_password(data / "log", "admin", PASSWORD)
    stack = BackgroundStack(StackSettings(data, broker_port=broker_port, http_port=0, broker_config=config))
    info = stack.start(START_TIMEOUT_S)
    own = {"Origin": info.url, "Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=info.url, headers=own, timeout=60, trust_env=False) as client:
        assert client.get(info.url_with_token).status_code == 303
        yield client
    stack.stop()


def test_the_brokers_settings_hold_for_strangers(editor: httpx.Client, broker_port: int) -> None:
    """The processes of the stack reach the broker all the same: by a port of their own."""
    assert editor.post("/api/topics", json={"name": "guarded", "partitions": 1}).status_code in (200, 201)
    address: dict[str, str | int | float | bool] = {"bootstrap.servers": f"127.0.0.1:{broker_port}", "log_level": 0}
    known: dict[str, str | int | float | bool] = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
    }
    known |= {"sasl.username": "admin", "sasl.password": PASSWORD}
    assert "guarded" in AdminClient({**address, **known}).list_topics(timeout=DEADLINE_S).topics
    with pytest.raises(KafkaException):
        AdminClient(address).list_topics(timeout=3)


def until(found: Callable[[], Any], what: str) -> Any:
    deadline_s = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline_s, what
        time.sleep(0.1)
    return value


def job(editor: httpx.Client) -> dict[str, Any]:
    shown: dict[str, Any] = editor.get("/api/jobs/drawn").json()
    assert shown["state"] != "failed", shown
    return shown


def ticks(editor: httpx.Client) -> Iterator[dict[str, Any]]:
    """Figures of the pipeline as they come over the stream of events."""
    kind = ""
    with editor.stream("GET", "/api/events?pipeline=drawn", timeout=DEADLINE_S) as stream:
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            kind = value if name == "event" else kind
            if name == "data" and kind == "metrics":
                yield json.loads(value)["jobs"].get("drawn", {})


def test_a_pipeline_is_drawn_deployed_watched_changed_and_stopped(editor: httpx.Client) -> None:
    assert editor.get("/ready").json() == {"ready": True, "reason": None, "notices": []}
    body = {"expected_revision": 0, "text": PIPELINE, "layout": {"made": {"x": 1, "y": 2}}}
    draft = editor.put("/api/pipelines/drawn/draft", json=body)
    assert draft.json()["problems"] == [], draft.text
    deploy = {"expected_revision": 1, "note": "first", "author": "ada"}
    first = editor.post("/api/pipelines/drawn/deploy", json=deploy)
    assert first.status_code == 200, first.text
    assert (first.json()["version"]["number"], first.json()["job"]["version"]) == (1, 1)
    assert editor.post("/api/pipelines/drawn/deploy", json=deploy).status_code == 409, "the draft went on"

    for tick in ticks(editor):
        edges = {(edge["source"], edge["target"]): edge for edge in tick.get("edges", [])}
        if edges and edges["some", "kept"]["rows"] > 0 and edges["made", "some"]["rate"] > 0:
            break
    assert edges["made", "some"]["rows"] >= edges["some", "kept"]["rows"]

    sample = editor.post("/api/jobs/drawn/sample", json={"edge": edges_of(first.json(), "some"), "limit": 5})
    assert sample.status_code == 200, sample.text
    assert [row["kind"] for row in sample.json()["rows"]] == [1] * 5
    messages = editor.get("/api/topics/kept/messages?limit=3").json()["messages"]
    assert all(message["value"]["value"]["kind"] == 1 for message in messages)
    metrics = editor.get("/metrics").text
    assert 'headrace_node_rows_out_total{node="some",pipeline="drawn"}' in metrics
    assert 'headrace_partition_end_offset{partition="0",topic="kept"}' in metrics

    revision = first.json()["draft"]["revision"]
    changed = PIPELINE.replace("kind = 1", "kind = 2")
    draft = editor.put("/api/pipelines/drawn/draft", json={"expected_revision": revision, "text": changed})
    assert (draft.json()["changes_from"], len(draft.json()["changes"])) == ("running", 1)
    again = {"expected_revision": draft.json()["revision"], "note": "the others", "author": "bob"}
    second = editor.post("/api/pipelines/drawn/deploy", json=again)
    assert second.status_code == 200, second.text
    assert second.json()["version"] | {"saved_at": ""} == second.json()["version"] | {
        "number": 2,
        "note": "the others",
        "author": "bob",
        "saved_at": "",
    }
    until(lambda: newest(editor)["kind"] == 2, "the new version writes")
    assert job(editor)["version"] == 2
    kinds = [event["kind"] for event in editor.get("/api/jobs/drawn/events?limit=1000").json()["events"]]
    assert [kind for kind in kinds if kind in ("started", "stopped")] == ["started", "stopped", "started"]

    assert editor.post("/api/pipelines/drawn/stop").json()["state"] == "stopped"
    values = read_all(editor)
    assert len(values) == len(set(values)), "nothing was doubled by the change"


def test_rows_are_tried_out_before_anything_runs(editor: httpx.Client) -> None:
    body = {"text": PIPELINE, "limit": 9}
    tried = editor.post("/api/test-run", json=body).json()["nodes"]
    assert [row["n"] for row in tried["made"]["rows"]] == list(range(9))
    assert [row["n"] for row in tried["some"]["rows"]] == [1, 4, 7]


def newest(editor: httpx.Client) -> dict[str, Any]:
    message = editor.get("/api/topics/kept/messages?limit=1").json()["messages"][0]
    value: dict[str, Any] = message["value"]["value"]
    return value


def edges_of(deployed: dict[str, Any], source: str) -> dict[str, Any]:
    names = ("source", "target", "source_port", "target_port")
    (edge,) = [edge for edge in deployed["job"]["edges"] if edge["source"] == source]
    return {name: edge[name] for name in names}


def read_all(editor: httpx.Client, topic: str = "kept") -> list[int]:
    """The field n of every message in the topic, page by page."""
    values: list[int] = []
    query = {"from": "earliest", "limit": "500"}
    while True:
        page = editor.get(f"/api/topics/{topic}/messages", params=query).json()
        values += [message["value"]["value"]["n"] for message in page["messages"]]
        if page["is_complete"]:
            return values
        query = {**query, "cursor": page["next"]}


ALIVE = 'generator 50 columns=["value AS n"] as made ! filter "n >= 0" as some ! to-topic alive as out'


def java_of_the_server() -> int:
    """The Java process below the server of this process: sessions of other tests have one below the test itself."""
    servers = [pid for pid in processes.tree(os.getpid()) if b"headrace.server" in processes.command_line(pid)]
    return next(java for pid in servers if (java := processes.spark_java(pid)) is not None)


def start_alive(editor: httpx.Client) -> None:
    editor.post("/api/pipelines", json={"name": "alive", "text": ALIVE})
    started = editor.post("/api/pipelines/alive/start")
    assert started.status_code == 200, started.text
    until(lambda: end_of_alive(editor) > 0, "rows come")


def end_of_alive(editor: httpx.Client) -> int:
    shown = editor.get("/api/topics/alive")
    return sum(part["end_offset"] for part in shown.json()["partitions"]) if shown.status_code == 200 else 0


def test_spark_is_started_again_when_java_is_killed_and_pipelines_go_on(editor: httpx.Client) -> None:
    """The death is shown while it lasts, what is asked meanwhile is answered, and no row is lost or doubled."""
    start_alive(editor)
    os.kill(java_of_the_server(), signal.SIGKILL)
    gone = until(lambda: (shown := editor.get("/ready")).status_code == 503 and shown.json(), "the death is noticed")
    assert gone["ready"] is False
    assert gone["reason"] == "Spark's Java process was killed by SIGKILL"
    assert gone["notices"] == ["Spark's Java process was killed by SIGKILL; it is started again"]
    tried = editor.post("/api/test-run", json={"text": ALIVE, "limit": 1})
    assert (tried.status_code, tried.json()["code"]) == (503, "engine_lost"), tried.text
    stopped = editor.post("/api/pipelines/alive/stop")
    assert (stopped.status_code, stopped.json()["state"]) == (200, "stopped"), stopped.text
    started = editor.post("/api/pipelines/alive/start")
    assert (started.status_code, started.json()["state"]) == (200, "starting"), started.text
    assert "Java" in (started.json()["error"] or {}).get("message", "") or started.json()["waits_for"]

    until(lambda: editor.get("/ready").status_code == 200, "Spark runs again")
    require_more_rows(editor)
    until(lambda: editor.get("/api/jobs/alive").json()["state"] == "running", "the job runs")
    assert "headrace_engine_restarts_total 1.0" in editor.get("/metrics").text
    require_exact(editor)


def test_java_is_killed_in_the_middle_of_a_deploy(editor: httpx.Client) -> None:
    """The answer names the cause, and the version runs once Spark is back."""
    start_alive(editor)
    java = java_of_the_server()
    draft = editor.get("/api/pipelines/alive/draft").json()
    body = {"expected_revision": draft["revision"], "text": ALIVE.replace("n >= 0", "n >= -1")}
    revision = editor.put("/api/pipelines/alive/draft", json=body).json()["revision"]
    answers: list[httpx.Response] = []

    def deploy() -> None:
        wanted = {"expected_revision": revision, "note": "", "author": ""}
        answers.append(editor.post("/api/pipelines/alive/deploy", json=wanted, timeout=START_TIMEOUT_S))

    deploying = threading.Thread(target=deploy)
    deploying.start()
    until(lambda: editor.get("/api/jobs/alive").json()["state"] != "running" or answers, "the deploy is under way")
    os.kill(java, signal.SIGKILL)
    deploying.join()
    (answer,) = answers
    assert "unexpected" not in answer.text
    assert answer.status_code == 200, answer.text

    until(lambda: editor.get("/ready").status_code == 200, "Spark runs again")
    require_more_rows(editor)
    require_exact(editor)


def require_more_rows(editor: httpx.Client) -> None:
    before = end_of_alive(editor)

    def more() -> bool:
        shown = editor.get("/api/jobs/alive").json()
        assert shown["state"] != "failed", shown
        return end_of_alive(editor) > before

    until(more, "rows come again")


def require_exact(editor: httpx.Client) -> None:
    assert editor.post("/api/pipelines/alive/stop").json()["state"] == "stopped"
    values = read_all(editor, "alive")
    assert sorted(values) == list(range(len(values))), "a row was lost or doubled"
