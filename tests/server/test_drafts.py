from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.graph import Document, DraftConflict, Node, Store
from headrace.server.service import Service

TEXT = 'topic telemetry schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! to-topic low'
BROKEN = {"format": 1, "name": "x", "nodes": [{"id": "a", "operator": "nope", "config": {"x": 1}}], "edges": []}


def put(client: httpx.Client, name: str, revision: int, **body: Any) -> httpx.Response:
    return client.put(f"/api/pipelines/{name}/draft", json={"expected_revision": revision, **body})


def saved(client: httpx.Client, text: str = TEXT, name: str = "alerts") -> None:
    assert client.post("/api/pipelines", json={"text": text, "name": name}).status_code in (200, 201)


def test_a_draft_begins_as_the_latest_version_without_changes(client: httpx.Client) -> None:
    saved(client)
    draft = client.get("/api/pipelines/alerts/draft").json()
    assert (draft["revision"], draft["base_version"], draft["changes"], draft["problems"]) == (1, 1, [], [])
    assert draft["changes_from"] == "latest"
    assert {column["name"] for column in draft["schemas"]["filter_1"]["columns"]} == {"drone", "battery"}
    assert "battery < 20" in draft["notations"]["sql"]
    (entry,) = client.get("/api/pipelines").json()["pipelines"]
    assert entry["draft"] == {"revision": 1, "changes": 0}


@pytest.mark.parametrize("notation", ["document", "sql", "text"])
def test_every_notation_can_be_written(client: httpx.Client, notation: str) -> None:
    saved(client)
    draft = client.get("/api/pipelines/alerts/draft").json()
    told = {"document": draft["document"], **draft["notations"]}[notation]
    if notation == "document":
        told["nodes"][0]["config"]["condition"] = "battery < 30"
    else:
        told = told.replace("battery < 20", "battery < 30")
    layout = {"filter_1": {"x": 10, "y": -2.5}}
    written = put(client, "alerts", 1, layout=layout, **{notation: told})
    assert written.status_code == 200, written.text
    assert written.json()["revision"] == 2
    (change,) = written.json()["changes"]
    assert (change["kind"], change["node"], change["setting"]) == ("setting_changed", "filter_1", "condition")
    assert written.json()["layout"] == {"filter_1": {"x": 10.0, "y": -2.5}}
    diff = client.get("/api/pipelines/alerts/diff?old=latest&new=draft").json()
    assert diff["changes"] == written.json()["changes"]


def test_what_cannot_run_is_kept_with_its_problems(client: httpx.Client) -> None:
    written = put(client, "new", 0, document=BROKEN)
    assert written.status_code == 200, written.text
    draft = client.get("/api/pipelines/new/draft").json()
    assert draft["document"]["nodes"][0]["operator"] == "nope"
    assert "unknown_operator" in {problem["code"] for problem in draft["problems"]}
    assert (draft["base_version"], draft["latest_version"], draft["changes_from"]) == (0, 0, "nothing")
    assert draft["notations"]["reasons"].keys() == {
        name for name in ("sql", "text", "python") if draft["notations"][name] is None
    }


def test_a_wrong_setting_is_named(client: httpx.Client) -> None:
    saved(client)
    draft = client.get("/api/pipelines/alerts/draft").json()["document"]
    draft["nodes"][0]["config"] = {"condition": 5}
    (problem,) = put(client, "alerts", 1, document=draft).json()["problems"][:1]
    assert (problem["node"], problem["setting"], problem["code"]) == ("filter_1", "condition", "bad_config")


def test_sql_that_does_not_parse_is_refused_with_its_place_and_changes_nothing(client: httpx.Client) -> None:
    saved(client)
    client.get("/api/pipelines/alerts/draft")
    refused = put(client, "alerts", 1, sql="SELEKT 1")
    assert (refused.status_code, refused.json()["place"]["line"]) == (400, 1)
    assert client.get("/api/pipelines/alerts/draft").json()["revision"] == 1


def test_a_conflict_carries_what_is_there_and_overwrites_nothing(client: httpx.Client) -> None:
    saved(client)
    first = client.get("/api/pipelines/alerts/draft").json()["document"]
    mine = {**first, "nodes": [*first["nodes"], {"id": "mine", "operator": "preview", "config": {}}]}
    theirs = {**first, "nodes": [*first["nodes"], {"id": "theirs", "operator": "preview", "config": {}}]}
    assert put(client, "alerts", 1, document=theirs).status_code == 200
    stale = put(client, "alerts", 1, document=mine)
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    assert stale.json()["current"]["revision"] == 2
    assert "theirs" in {node["id"] for node in stale.json()["current"]["document"]["nodes"]}
    assert "mine" not in client.get("/api/pipelines/alerts/draft").text


def test_a_discarded_draft_cannot_be_written_by_who_still_has_it_open(client: httpx.Client) -> None:
    saved(client)
    document = client.get("/api/pipelines/alerts/draft").json()["document"]
    assert client.delete("/api/pipelines/alerts/draft").status_code == 200
    assert put(client, "alerts", 1, document=document).status_code == 409
    anew = client.get("/api/pipelines/alerts/draft").json()
    assert anew["revision"] > 1
    assert put(client, "alerts", 1, document=document).status_code == 409


def test_a_new_pipeline_cannot_be_begun_over_one_that_exists(client: httpx.Client) -> None:
    saved(client)
    assert put(client, "alerts", 0, text=TEXT).status_code == 409


def test_an_unchanged_draft_follows_what_somebody_saves(client: httpx.Client) -> None:
    saved(client)
    client.get("/api/pipelines/alerts/draft")
    saved(client, TEXT.replace("20", "25"))
    draft = client.get("/api/pipelines/alerts/draft").json()
    assert (draft["base_version"], draft["changes"]) == (2, [])
    assert "battery < 25" in draft["notations"]["text"]


def test_a_changed_draft_keeps_its_changes_when_somebody_saves(client: httpx.Client) -> None:
    saved(client)
    client.get("/api/pipelines/alerts/draft")
    put(client, "alerts", 1, text=TEXT.replace("20", "7"))
    saved(client, TEXT.replace("20", "25"))
    draft = client.get("/api/pipelines/alerts/draft").json()
    assert (draft["base_version"], draft["latest_version"], len(draft["changes"])) == (1, 2, 1)
    assert "battery < 7" in draft["notations"]["text"]


def test_a_version_is_restored_into_the_draft(client: httpx.Client) -> None:
    saved(client)
    saved(client, TEXT.replace("20", "25"))
    revision = client.get("/api/pipelines/alerts/draft").json()["revision"]
    stale = client.post("/api/pipelines/alerts/versions/1/restore", json={"expected_revision": revision + 5})
    assert stale.status_code == 409
    restored = client.post("/api/pipelines/alerts/versions/1/restore", json={"expected_revision": revision})
    assert "battery < 20" in restored.json()["notations"]["text"]
    assert len(restored.json()["changes"]) == 1


def test_a_discarded_draft_goes_back_to_what_ran_last(client: httpx.Client, service: Service) -> None:
    """A version that failed to start is the latest one, and nobody wants it back."""
    saved(client)
    service._store.note_run("alerts", 1)
    saved(client, TEXT.replace("20", "25"))
    draft = client.get("/api/pipelines/alerts/draft").json()
    assert "battery < 25" in draft["notations"]["text"]
    assert client.delete("/api/pipelines/alerts/draft").status_code == 200
    draft = client.get("/api/pipelines/alerts/draft").json()
    assert "battery < 20" in draft["notations"]["text"]
    ran = [version["ran_at"] is not None for version in client.get("/api/pipelines/alerts/versions").json()["versions"]]
    assert ran == [True, False]


def test_a_template_becomes_a_draft_once(client: httpx.Client) -> None:
    templates = client.get("/api/templates").json()["templates"]
    assert len(templates) >= 5
    for template in templates:
        used = client.post(f"/api/templates/{template['name']}/use", json={"as": f"my-{template['name']}"})
        assert used.status_code == 201, used.text
        assert used.json()["problems"] == []
        assert used.json()["document"]["name"] == f"my-{template['name']}"
    again = client.post(f"/api/templates/{templates[0]['name']}/use", json={"as": f"my-{templates[0]['name']}"})
    assert again.status_code == 409
    assert client.post("/api/templates/none/use", json={"as": "x"}).status_code == 404
    assert client.post(f"/api/templates/{templates[0]['name']}/use", json={"as": "../x"}).status_code == 400


def test_deploying_what_cannot_run_saves_nothing(client: httpx.Client, service: Service) -> None:
    put(client, "new", 0, document=BROKEN)
    service._ready.set()
    try:
        refused = client.post("/api/pipelines/new/deploy", json={"expected_revision": 1, "note": "n", "author": "a"})
    finally:
        service._ready.clear()
    assert refused.status_code == 400
    assert refused.json()["problems"]
    assert client.get("/api/pipelines/new").status_code == 404


def test_a_pipeline_that_is_only_a_draft_is_listed_and_deleted(client: httpx.Client) -> None:
    put(client, "new", 0, document=BROKEN)
    (entry,) = client.get("/api/pipelines").json()["pipelines"]
    assert (entry["name"], entry["latest"], entry["draft"]["changes"]) == ("new", None, 1)
    assert client.delete("/api/pipelines/new").status_code == 200
    assert client.get("/api/pipelines").json()["pipelines"] == []
    assert client.delete("/api/pipelines/new").status_code == 404


def test_a_deep_document_is_refused(client: httpx.Client) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"x": deep}
    document = {**BROKEN, "nodes": [{"id": "a", "operator": "filter", "config": deep}]}
    assert put(client, "deep", 0, document=document).status_code == 400
    raw = b'{"expected_revision": 0, "document": ' + b"[" * 9_000 + b"]" * 9_000 + b"}"
    response = client.put("/api/pipelines/deep/draft", content=raw, headers={"Content-Type": "application/json"})
    assert response.status_code == 400


def test_changes_of_a_draft_are_told_to_followers(client: httpx.Client, service: Service) -> None:
    put(client, "told", 0, text=TEXT)
    (event,) = service.job_events("told", 10)
    assert (event.kind, event.details) == ("draft_changed", {"revision": 1})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(tmp_path_factory.mktemp("drafts") / "headrace.sqlite")
    yield opened
    opened.close()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["read", "write", "discard"])), max_size=30))
def test_of_two_writers_no_write_is_ever_lost_unseen(store: Store, steps: list[tuple[str, str]]) -> None:
    """A write succeeds exactly when its writer has seen the newest content, and then replaces that very content."""
    name = f"p-{os.urandom(8).hex()}"
    seen: dict[str, int] = {"a": 0, "b": 0}
    content: int | None = None
    revisions: list[int] = []
    for number, (writer, action) in enumerate(steps):
        if action == "read":
            read = store.drafts.find(name)
            seen[writer] = read.revision if read else 0
        elif action == "discard":
            store.drafts.discard(name)
            content = None
        else:
            current = store.drafts.find(name)
            may = seen[writer] == (current.revision if current else 0)
            try:
                written = store.drafts.write(name, seen[writer], Document(name, (Node(f"n{number}", "preview"),)))
            except DraftConflict:
                assert not may
            else:
                assert may or current is None
                assert not revisions or written.revision > revisions[-1]
                revisions.append(written.revision)
                seen[writer], content = written.revision, number
        found = store.drafts.find(name)
        assert (found.document.nodes[0].id if found else None) == (None if content is None else f"n{content}")


WRITER = """
import sys, itertools
from pathlib import Path
from headrace.graph import Document, Node, Store
store = Store(Path(sys.argv[1]))
for number in itertools.count():
    store.drafts.write("p", number, Document("p", (Node(f"n{number + 1}", "preview"),)))
    print(number + 1, flush=True)
"""


def test_a_written_draft_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "headrace.sqlite"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(50)]
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout.read().splitlines()]
    store = Store(path)
    found = store.drafts.find("p")
    store.close()
    assert found is not None
    assert found.revision in (told[-1], told[-1] + 1), "nothing that was told is lost"
    assert found.document.nodes[0].id == f"n{found.revision}"


def test_a_text_that_cannot_be_read_is_kept_beside_the_draft(client: httpx.Client) -> None:
    saved(client)
    before = client.get("/api/pipelines/alerts/draft").json()
    assert before["texts"] == {}
    path = "/api/pipelines/alerts/draft/texts"
    assert client.put(f"{path}/sql", json={"text": "SELECT FORM"}).json() == {"texts": {"sql": "SELECT FORM"}}
    assert client.put(f"{path}/text", json={"text": "topic !"}).status_code == 200
    after = client.get("/api/pipelines/alerts/draft").json()
    assert after == {**before, "texts": {"sql": "SELECT FORM", "text": "topic !"}}
    assert client.put(f"{path}/sql", json={"text": None}).json() == {"texts": {"text": "topic !"}}
    assert client.put(f"{path}/python", json={"text": "x"}).status_code == 400
    assert client.put("/api/pipelines/nobody/draft/texts/sql", json={"text": "x"}).status_code == 404
    assert client.delete("/api/pipelines/alerts/draft").status_code == 200
    assert client.get("/api/pipelines/alerts/draft").json()["texts"] == {}


def test_a_name_that_nobody_has_is_refused_with_the_nearest_ones(client: httpx.Client) -> None:
    saved(client)
    assert put(client, "alarms", 0, text=TEXT).status_code == 200
    answer = client.get("/api/pipelines/alarm/draft")
    assert (answer.status_code, answer.json()["message"]) == (404, "no pipeline is named 'alarm'")
    assert "alarms" in answer.json()["hint"]
