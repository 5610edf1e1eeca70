"""Tables over HTTP: declared, changed and asked, before any pipeline runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from headrace.server.service import Service
from headrace.server.settings import ServerSettings
from headrace.wire.testing import BrokerProcess


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With a broker beside it, before Spark is up."""
    directory = tmp_path_factory.mktemp("data")
    broker = BrokerProcess(directory / "log")
    broker.start()
    made = Service(ServerSettings(directory, broker.bootstrap, "the-token", log_directory=directory / "log"))
    yield made
    made.close()
    broker.stop()


def run(client: httpx.Client, sql: str) -> list[Any]:
    answer = client.post("/api/sql", json={"sql": sql})
    assert answer.status_code == 200, answer.text
    return [result["rows"] for result in answer.json()["results"]]


def test_a_table_from_its_declaration_to_an_answer(client: httpx.Client) -> None:
    declared = "CREATE TABLE limits (symbol STRING PRIMARY KEY, maximum DOUBLE, open BOOLEAN)"
    assert run(client, declared) == [[["limits", "limits", "symbol"]]]
    assert run(client, "SHOW TABLES; DESCRIBE limits")[0] == [["limits", "limits", "symbol"]]
    assert run(client, "INSERT INTO limits VALUES ('a', 1.5, true), ('b', 2, NULL)") == [[[2]]]
    assert run(client, "UPDATE limits SET maximum = maximum * 2 WHERE symbol = 'b'") == [[[1]]]
    assert run(client, "SELECT * FROM limits ORDER BY symbol") == [[["a", 1.5, True], ["b", 4.0, None]]]
    assert run(client, "DELETE FROM limits WHERE maximum > 2; SELECT count(*) AS n FROM limits") == [[[1]], [[1]]]


def test_a_script_may_declare_the_table_that_it_asks(client: httpx.Client) -> None:
    run(client, "CREATE TABLE narrow (k STRING PRIMARY KEY, v INT)")
    run(client, "INSERT INTO narrow VALUES ('x', 7)")
    wide = "CREATE TABLE wide (k STRING PRIMARY KEY, v INT, w STRING) WITH (topic = 'narrow');"
    assert run(client, f"{wide} SELECT v, w FROM wide") == [[[7, None]]]
    assert run(client, "SELECT * FROM narrow") == [[["x", 7]]]


@pytest.mark.parametrize(
    ("sql", "status", "message"),
    [
        ("SELECT * FROM nobody", 404, "no table"),
        ("CREATE TABLE keyless (a INT)", 400, "has no key"),
        ("CREATE TABLE gone (k STRING PRIMARY KEY); SELECT * FROM gone", 404, "gone"),
    ],
)
def test_faults_are_told(client: httpx.Client, sql: str, status: int, message: str) -> None:
    answer = client.post("/api/sql", json={"sql": sql})
    assert answer.status_code == status, answer.text
    assert message in answer.text
