"""Signals over HTTP, against a real broker; Spark is not needed to place one."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from headrace.server.service import Service
from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess

TEXT = 'topic orders schema="k STRING, n BIGINT" ! filter "n > 0" ! to-topic kept'


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data")
    broker.start()
    with Client(broker.bootstrap) as client:
        client.create_topics({"orders": 2, "returns": 1})
    yield broker.bootstrap
    broker.stop()


@pytest.fixture
def pipeline(client: httpx.Client) -> str:
    assert client.post("/api/pipelines", json={"text": TEXT, "name": "shop"}).status_code == 201
    return "shop"


def test_a_signal_to_a_pipeline_stands_in_the_topics_that_it_reads(client: httpx.Client, pipeline: str) -> None:
    asked = {"kind": "pause", "pipeline": pipeline, "id": "first"}
    placed = client.post("/api/signals", json=asked).json()
    assert placed["cut"] == {"orders": {"0": 1, "1": 1}}
    assert (placed["state"], placed["topics"], placed["pipeline"]) == ("placed", ["orders"], "shop")
    assert client.post("/api/signals", json=asked).json() == placed, "the same id, the same place"
    standing = {"kind": "custom", "topics": ["orders"], "handling": "until_handled"}
    other = client.post("/api/signals", json=standing).json()
    assert (other["cut"], other["handling"]) == ({"orders": {"0": 2, "1": 2}}, "until_handled")
    listed = client.get("/api/signals", params={"pipeline": "shop"}).json()["signals"]
    assert [signal["id"] for signal in listed] == ["first", other["id"]]
    assert client.get("/api/signals", params={"pipeline": "other", "limit": 1}).json()["signals"] == [other]


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"kind": "paus", "pipeline": "shop"}, 400, "kind"),
        ({"kind": "pause"}, 400, "names its topics"),
        ({"kind": "pause", "pipeline": "shop", "topics": ["orders"]}, 400, "topics that it reads"),
        ({"kind": "custom", "pipeline": "shop", "node": "onyl"}, 404, "no node 'onyl'"),
        ({"kind": "pause", "pipeline": "absent"}, 404, "absent"),
        ({"kind": "pause", "topics": ["absent"]}, 400, "absent"),
        ({"kind": "update_parameters", "pipeline": "shop"}, 400, "needs a node"),
    ],
)
def test_a_wrong_signal_is_refused(
    client: httpx.Client, pipeline: str, asked: dict[str, object], status: int, told: str
) -> None:
    answer = client.post("/api/signals", json=asked)
    assert answer.status_code == status, answer.text
    assert told in answer.text


def test_a_pipeline_that_a_signal_stopped_is_not_wanted_after_a_restart(service: Service) -> None:
    service._wanted.want("shop", 1)
    service._engine._stopped_by_signal("shop")
    assert service._wanted.versions == {}


def test_a_signal_to_a_pipeline_stands_in_every_topic_that_it_reads(client: httpx.Client) -> None:
    columns = 'schema="k STRING"'
    text = f"topic orders {columns} ! union as both ! to-topic kept\ntopic returns {columns} ! @both.in_2"
    assert client.post("/api/pipelines", json={"text": text, "name": "unified"}).status_code == 201
    placed = client.post("/api/signals", json={"kind": "pause", "pipeline": "unified"})
    assert placed.status_code == 200, placed.text
    assert placed.json()["cut"].keys() == {"orders", "returns"}


def test_a_window_in_sparks_plan_cannot_be_closed_by_a_signal(client: httpx.Client) -> None:
    window = 'tumbling-window "1 minute" time=ts aggregates=["approx_count_distinct(ts) AS c"] as w'
    text = f'topic orders schema="ts TIMESTAMP" event_time=ts ! {window} ! to-topic counted'
    assert client.post("/api/pipelines", json={"text": text, "name": "counted"}).status_code == 201
    for node in (None, "w"):
        refused = client.post("/api/signals", json={"kind": "close_window", "pipeline": "counted", "node": node})
        assert refused.status_code == 400, refused.text
        assert "tumbling-window cannot be closed by a signal" in refused.text


def test_a_window_that_runs_in_a_chain_can_be_closed_by_a_signal(client: httpx.Client) -> None:
    window = 'tumbling-window "1 minute" time=ts keys=k aggregates=["count(*) AS c"] as w'
    text = f'topic orders schema="k STRING, ts TIMESTAMP" event_time=ts ! {window} ! to-topic counted'
    assert client.post("/api/pipelines", json={"text": text, "name": "closable"}).status_code == 201
    for node in (None, "w"):
        placed = client.post("/api/signals", json={"kind": "close_window", "pipeline": "closable", "node": node})
        assert placed.status_code == 200, placed.text


def test_what_signals_cannot_reach_is_known_beforehand(service: Service, client: httpx.Client, pipeline: str) -> None:
    assert (
        client.post("/api/pipelines", json={"text": "generator 5 ! to-topic made", "name": "made"}).status_code == 201
    )
    assert service.signals.refusal(pipeline) is None
    assert "reads no topic" in (service.signals.refusal("made") or "")
    assert client.post("/api/signals", json={"kind": "pause", "pipeline": "made"}).status_code == 400
