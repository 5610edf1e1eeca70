"""The command line's way to the server, against the real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.errors import InvalidGraph, InvalidSyntax, NotFound
from headrace.process import RunInfo
from headrace.server.client import ServerClient
from headrace.server.service import Service
from headrace.templates import load_templates

TEXT = 'topic telemetry schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! to-topic low'


@pytest.fixture
def server(port: int) -> Iterator[ServerClient]:
    with ServerClient(RunInfo(1, 0, 1, "127.0.0.1:1", port, "the-token")) as client:
        yield client


def test_versions_are_saved_listed_shown_compared_and_deleted(server: ServerClient) -> None:
    assert server.save({"text": TEXT, "name": "p"}, note="n", author="a")["version"]["number"] == 1
    server.save({"text": TEXT.replace("20", "30"), "name": "p"})
    (listed,) = server.pipelines()
    assert (listed["name"], listed["state"], listed["latest"]["number"]) == ("p", "stopped", 2)
    shown = server.show("p", 1)
    assert shown["text"].count("battery < 20") == shown["sql"].count("battery < 20") == 1
    assert shown["document"]["name"] == "p"
    (change,) = server.diff("p", 1, 2)["changes"]
    assert "battery < 30" in change
    assert [version["author"] for version in server.versions("p")] == ["a", ""]
    assert server.delete("p") == {"name": "p", "deleted": True}
    assert server.pipelines() == []


def test_a_draft_alone_is_no_pipeline_of_the_command_line(server: ServerClient, service: Service) -> None:
    server.save({"text": TEXT, "name": "p"})
    service.drafts.open("p")
    service.drafts.begin("drawn", load_templates()[0])
    assert [entry["name"] for entry in server.pipelines()] == ["p"]


def test_errors_come_back_as_they_were_raised(server: ServerClient) -> None:
    with pytest.raises(NotFound, match="no pipeline"):
        server.show("none")
    with pytest.raises(InvalidSyntax) as broken:
        server.validate({"sql": "SELEKT 1", "name": "p"})
    assert broken.value.place is not None
    document = {"name": "p", "nodes": [{"id": "a", "operator": "filter", "config": {"condition": 5}}], "edges": []}
    with pytest.raises(InvalidGraph) as faulty:
        server.validate({"document": document})
    assert ("a", "condition") in {(problem.node, problem.setting) for problem in faulty.value.problems}


def test_events_are_followed_from_the_start_without_ticks_of_figures(server: ServerClient, service: Service) -> None:
    service.sampler.sample()
    for kind in ("started", "stopped"):
        service._engine.events.publish("followed", kind)
    events = server.events("followed", from_start=True)
    assert [next(events)["kind"], next(events)["kind"]] == ["started", "stopped"]
    events.close()  # type: ignore[attr-defined]  # a generator
