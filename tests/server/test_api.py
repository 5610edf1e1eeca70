from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.operators.template import operator_template
from headrace.serial import API_VERSION
from headrace.server.service import Service

SQL = """-- @name alerts
CREATE STREAM telemetry (drone STRING, battery DOUBLE) WITH (topic = 'telemetry', format = 'json');
CREATE STREAM low WITH (topic = 'low', format = 'json') AS SELECT drone, battery FROM telemetry WHERE battery < 20;
"""
TEXT = 'topic telemetry schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! to-topic low'


def saved(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = client.post("/api/pipelines", json=body)
    assert response.status_code == 201, response.text
    version: dict[str, Any] = response.json()["version"]
    return version


def test_not_ready_before_spark_is_up(client: httpx.Client) -> None:
    response = client.get("/ready")
    assert (response.status_code, response.json()) == (
        503,
        {"ready": False, "reason": "Spark starts", "notices": []},
    )


def test_every_save_is_a_version_and_the_same_again_is_none(client: httpx.Client) -> None:
    assert saved(client, sql=SQL, note="first", author="ada")["number"] == 1
    assert saved(client, sql=SQL.replace("20", "25"))["number"] == 2
    again = client.post("/api/pipelines", json={"sql": SQL.replace("20", "25")})
    assert (again.status_code, again.json()["is_new"]) == (200, False)
    versions = client.get("/api/pipelines/alerts/versions").json()["versions"]
    assert [(v["number"], v["note"], v["author"]) for v in versions] == [(1, "first", "ada"), (2, "", "")]
    changes = client.get("/api/pipelines/alerts/diff?old=1&new=2").json()["changes"]
    assert len(changes) == 1
    assert (changes[0]["kind"], changes[0]["setting"]) == ("setting_changed", "condition")
    assert "20" in changes[0]["old"]
    assert "25" in changes[0]["new"]


@pytest.mark.parametrize("notation", ["sql", "text", "document"])
def test_notations_are_one_pipeline(client: httpx.Client, notation: str) -> None:
    saved(client, text=TEXT, name="first")
    shown = client.get("/api/pipelines/first").json()
    given = {"document": shown["document"], **shown["notations"]}[notation]
    assert saved(client, **{notation: given}, name="second")["content_hash"] == (shown["version"]["content_hash"])


def test_python_is_shown_too(client: httpx.Client) -> None:
    saved(client, sql=SQL)
    assert "to_topic" in client.get("/api/pipelines/alerts?version=1").json()["notations"]["python"]


def test_listing_and_deletion(client: httpx.Client) -> None:
    saved(client, sql=SQL)
    (listed,) = client.get("/api/pipelines").json()["pipelines"]
    assert (listed["name"], listed["latest"]["number"], listed["job"], listed["draft"]) == ("alerts", 1, None, None)
    assert client.delete("/api/pipelines/alerts").json() == {"name": "alerts", "deleted": True}
    assert client.get("/api/pipelines").json()["pipelines"] == []
    assert client.delete("/api/pipelines/alerts").status_code == 404


def test_broken_sql_names_its_place(client: httpx.Client) -> None:
    response = client.post("/api/pipelines", json={"sql": SQL.replace("WHERE battery", "WHERE batery")})
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == "invalid_syntax"
    assert problem["status"] == 400
    assert problem["place"]["line"] == 3
    assert "^" in problem["place"]["marked"]
    assert "battery" in str(problem)
    assert client.get("/api/pipelines").json()["pipelines"] == []


def test_document_that_cannot_run_lists_every_problem(client: httpx.Client) -> None:
    document = {
        "name": "bad",
        "nodes": [{"id": "a", "operator": "filtre"}, {"id": "b", "operator": "filter", "config": {"condition": 1}}],
        "edges": [],
    }
    response = client.post("/api/pipelines/validate", json={"document": document})
    assert response.status_code == 400
    assert {problem["node"] for problem in response.json()["problems"]} >= {"a", "b"}


def test_what_cannot_be_planned_is_a_problem_and_is_not_saved(client: httpx.Client) -> None:
    text = (
        'topic s schema="k STRING, v DOUBLE" ! deduplicate k ! select k "explode(array(v)) AS t" as parts ! to-topic y'
    )
    body = {"name": "parts", "text": text}
    checked = client.post("/api/check", json=body)
    assert checked.status_code == 200
    (problem,) = checked.json()["problems"]
    assert (problem["node"], problem["message"]) == ("parts", "select cannot follow a serial operator here")
    for path in ("/api/pipelines/validate", "/api/pipelines"):
        refused = client.post(path, json=body)
        assert (refused.status_code, refused.json()["problems"]) == (400, [problem])
    assert client.get("/api/pipelines").json()["pipelines"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sql": SQL, "text": TEXT},
        {"sql": SQL, "surprise": 1},
        {"sql": 5},
        {"text": TEXT},
        {"document": {}},
        {"sql": SQL, "name": "../../etc"},
        {"sql": SQL, "name": "a/b"},
        {"sql": SQL, "name": ""},
    ],
)
def test_wrong_bodies_are_refused_and_change_nothing(client: httpx.Client, body: dict[str, Any]) -> None:
    response = client.post("/api/pipelines", json=body)
    assert response.status_code == 400, response.text
    assert response.json()["detail"]
    assert client.get("/api/pipelines").json()["pipelines"] == []


def test_body_that_is_no_json(client: httpx.Client) -> None:
    response = client.post("/api/pipelines", content=b"{", headers={"Content-Type": "application/json"})
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")


@pytest.mark.parametrize(
    "path",
    [
        "/api/nowhere",
        "/api/pipelines/none",
        "/api/pipelines/none/versions",
        "/api/jobs/none",
        "/api/jobs/a/preview/b",
        "/api/jobs/a/errors/b",
    ],
)
def test_unknown_things_are_not_found(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


def test_a_pipeline_can_be_started_and_stopped_before_spark_is_up(client: httpx.Client) -> None:
    """It waits for Spark, says so, and is not asked to come back later."""
    saved(client, sql=SQL)
    started = client.post("/api/pipelines/alerts/start", json={})
    assert (started.status_code, started.json()["state"]) == (200, "starting")
    assert client.get("/api/jobs/alerts").json()["error"]["message"] == "Spark starts"
    refused = client.post("/api/batch", json={"name": "alerts", "sql": SQL})
    assert (refused.status_code, refused.json()["code"]) == (503, "engine_lost")
    assert refused.json()["detail"] == "Spark starts"
    stopped = client.post("/api/pipelines/alerts/stop")
    assert (stopped.status_code, stopped.json()["state"], stopped.json()["error"]) == (200, "stopped", None)


def test_wanted_pipelines_are_shown_and_can_be_stopped_before_their_turn(
    client: httpx.Client, service: Service
) -> None:
    number = int(saved(client, sql=SQL)["number"])
    service._resume("alerts", number)
    shown = client.get("/api/jobs/alerts").json()
    assert (shown["state"], shown["version"]) == ("starting", number)
    deadline_s = time.monotonic() + 30
    while (waits_for := client.get("/api/jobs/alerts").json()["waits_for"]) is None:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    assert waits_for == "Spark starts"
    assert client.post("/api/pipelines/alerts/stop").json()["state"] == "stopped"


def test_operators_are_described(client: httpx.Client) -> None:
    listed = {operator["name"] for operator in client.get("/api/operators").json()["operators"]}
    assert {"topic", "filter", "to-topic", "preview"} <= listed
    assert client.get("/api/operators/filter").json()["kind"] == "relational"
    wrong = client.get("/api/operators/filtre")
    assert wrong.status_code == 400
    assert "filter" in wrong.json()["hint"]


def test_a_plugin_is_found_while_the_server_runs(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, content in operator_template("row-counter", API_VERSION).items():
        (tmp_path / file).write_text(content)
    (tmp_path / "broken.py").write_text("raise OSError('no')")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    deadline_s = time.monotonic() + 20
    while client.get("/api/operators/row-counter").status_code != 200:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    assert client.get("/api/operators").json()["problems"] == ["plugin 'broken.py': OSError: no"]
    assert client.get("/api/operators/filter").status_code == 200


def test_defect_is_a_problem_without_internals(
    client: httpx.Client, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("secret internals")

    monkeypatch.setattr(service, "jobs", broken)
    response = client.get("/api/jobs")
    assert response.status_code == 500
    assert response.json()["code"] == "internal"
    assert "secret internals" not in response.text
