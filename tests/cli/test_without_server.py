from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.graph.document import Document, Node
from headrace.graph.store import Store

SQL = """CREATE STREAM telemetry (drone STRING, battery DOUBLE) WITH (topic = 'telemetry', format = 'json');
CREATE STREAM low WITH (topic = 'low', format = 'json') AS SELECT drone, battery FROM telemetry WHERE battery < 20;
"""
COMMANDS = ["up", "demo", "sql", "topic", "produce", "consume", "pipeline", "operators", "doctor", "test"]
GROUPS = {
    "topic": ["list", "create", "delete", "describe"],
    "pipeline": ["save", "list", "show", "versions", "diff", "start", "stop", "status", "events", "delete", "validate"],
}


def test_help_lists_every_command(headrace: Any) -> None:
    shown = headrace("--help")
    assert shown.code == 0
    assert all(command in shown.out for command in COMMANDS)
    for group, commands in GROUPS.items():
        assert all(command in headrace(group, "--help").out for command in commands)


@pytest.mark.parametrize("command", [*COMMANDS[:3], *COMMANDS[4:6], *(f"{g} {c}" for g in GROUPS for c in GROUPS[g])])
def test_json_is_an_option_everywhere(headrace: Any, command: str) -> None:
    assert "--json" in headrace(*command.split(), "--help").out


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom headrace.cli import app\n"
        "print([m for m in ('pyspark', 'pyarrow', 'fastapi', 'httpx', 'sqlglot', 'pydantic', 'confluent_kafka')"
        " if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_version(headrace: Any) -> None:
    assert headrace("--version").out.startswith("headrace 0.")


def test_nothing_runs_is_said_with_a_hint(headrace: Any) -> None:
    for command in (["topic", "list"], ["pipeline", "list"], ["consume", "x"], ["produce", "x", "--value", "1"]):
        result = headrace(*command)
        assert (result.code, result.out) == (2, "")
        assert "error: no Headrace runs on" in result.err
        assert "headrace up" in result.err
        assert "Traceback" not in result.err


def test_errors_are_json_when_asked(headrace: Any) -> None:
    result = headrace("topic", "list", "--json")
    assert (result.code, result.err) == (2, "")
    assert result.json["error"]["code"] == "not_found"
    usage = headrace("topic", "nonsense", "--json")
    assert (usage.code, usage.json["error"]["code"]) == (2, "usage")


@pytest.mark.parametrize("notation", ["sql", "text", "python", "json"])
def test_sql_is_shown_in_every_notation(headrace: Any, notation: str) -> None:
    result = headrace("sql", SQL, "--to", notation, "--name", "alerts")
    assert result.code == 0, result.err
    assert "battery < 20" in result.out


def test_sql_round_trip_through_files(headrace: Any) -> None:
    for notation, file in (("text", "alerts.txt"), ("json", "alerts.json"), ("sql", "alerts.sql")):
        (headrace.directory / file).write_text(headrace("sql", SQL, "--to", notation, "--name", "alerts").out)
        valid = headrace("pipeline", "validate", file, "--json")
        assert valid.json == {"pipeline": "alerts", "valid": True, "nodes": 4}


def test_what_cannot_be_planned_is_not_valid(headrace: Any) -> None:
    text = (
        'topic s schema="k STRING, v DOUBLE" ! deduplicate k ! select k "explode(array(v)) AS t" as parts ! to-topic y'
    )
    (headrace.directory / "parts.txt").write_text(text)
    result = headrace("pipeline", "validate", "parts.txt", "--name", "parts")
    assert (result.code, result.out) == (2, "")
    assert "node 'parts': select cannot follow a serial operator here" in result.err


def test_sql_from_standard_input(headrace: Any) -> None:
    assert headrace("sql", "-", "--json", stdin=SQL).json["document"]["nodes"]


def test_broken_sql_is_marked(headrace: Any) -> None:
    result = headrace("sql", SQL.replace("WHERE battery", "WHERE batery"))
    assert (result.code, result.out) == (2, "")
    assert "unknown column 'batery' (line 2" in result.err
    marked = result.err.splitlines()
    assert marked[2].strip() == "^" * len("batery")
    assert marked[1][marked[2].index("^") :].startswith("batery")
    as_json = headrace("sql", "SELEC 1", "--json")
    assert (as_json.code, as_json.json["error"]["place"]["line"]) == (2, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", "no-such-file.sql"],
        ["sql", SQL, "--to", "morse"],
        ["sql", SQL, "--run", "--batch"],
        ["pipeline", "validate", "no-such-file.json"],
        ["operators", "no-such-operator"],
        ["topic", "create", "x", "--bootstrap", "nonsense"],
        ["topic", "create", "x", "--bootstrap", "127.0.0.1:1", "--config", "nonsense"],
        ["produce", "x", "--raw", "--key-field", "a"],
        ["topic", "create", "x", "--partitions", "0"],
        ["up", "--port", "99999"],
        ["up", "--broker", "nonsense"],
        ["up", "--broker", "kafka://localhost:9092", "--no-anonymous"],
    ],
)
def test_wrong_input_is_refused_in_words(headrace: Any, arguments: list[str]) -> None:
    result = headrace(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert "rror" in result.err


def test_binary_file_is_refused(headrace: Any) -> None:
    (headrace.directory / "bad.sql").write_bytes(b"\xff\xfe\x00")
    result = headrace("sql", "bad.sql")
    assert result.code == 2
    assert "cannot be read" in result.err


def test_up_refuses_a_port_in_use(headrace: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for option in ("--port", "--http-port"):
            other = {"--port": "--http-port", "--http-port": "--port"}[option]
            result = headrace("up", option, port, other, "0")
            assert result.code == 2
            assert f"port {port}" in result.err
            assert "is in use" in result.err
            assert f"{option} 0" in result.err
            assert "Traceback" not in result.err


def test_up_refuses_a_newer_data_directory(headrace: Any) -> None:
    data: Path = headrace.directory / "headrace-data"
    data.mkdir()
    (data / "format").write_text("99\n")
    result = headrace("up", "--port", "0", "--http-port", "0", "--json")
    assert result.code == 2
    assert "format 99" in result.json["error"]["message"]
    assert sorted(path.name for path in data.iterdir()) == ["format", "lock"]


def test_up_refuses_a_newer_log(headrace: Any) -> None:
    """The broker's own words come through."""
    log: Path = headrace.directory / "headrace-data" / "log"
    log.mkdir(parents=True)
    (log / "format").write_text(json.dumps({"format": 99}))
    result = headrace("up", "--port", "0", "--http-port", "0")
    assert result.code == 2, result.err
    assert "error: " in result.err
    assert "Traceback" not in result.err


def test_doctor_finds_this_machine_fit(headrace: Any) -> None:
    result = headrace("doctor", "--json", "--port", "0", "--http-port", "0")
    checks = {check["name"]: check for check in result.json["checks"]}
    assert (result.code, result.json["healthy"]) == (0, True), result.out
    assert {"Python", "Java", "memory", "disk", "data directory", "broker port", "server port"} <= set(checks)
    assert all(check["state"] in ("fine", "optional") for check in checks.values())


def test_doctor_finds_plain_passwords_and_secrets_are_none(headrace: Any) -> None:
    data = headrace.directory / "headrace-data"
    data.mkdir()
    store = Store(data / "headrace.sqlite")
    for password in ("plain", "${secret:PW}"):
        url = f"http://user:{password}@host/{{n}}"
        store.save(Document(f"p{len(password)}", (Node("n", "http-lookup", {"url": url}),), ()))
    store.close()
    found = {check["name"]: check for check in headrace("doctor", "--json", "--http-port", "0").json["checks"]}
    assert found["passwords"]["found"] == "in plain text in p5 version 1"
    assert "${secret:NAME}" in found["passwords"]["remedy"]
    assert headrace("secret", "set", "PW", "--file", "-", "--json", stdin="word\n").json == {
        "secret": "PW",
        "set": True,
    }
    assert headrace("secret", "list", "--json").json == {"secrets": ["PW"]}
    assert (data / "secrets" / "PW").read_text() == "word"
    assert headrace("secret", "remove", "PW").code == 0


def test_doctor_says_how_to_mend_a_port_and_a_directory(headrace: Any) -> None:
    data: Path = headrace.directory / "headrace-data"
    data.mkdir()
    (data / "format").write_text("99\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = headrace("doctor", "--json", "--port", str(taken.getsockname()[1]), "--http-port", "0")
    checks = {check["name"]: check for check in result.json["checks"]}
    assert (result.code, result.json["healthy"]) == (1, False)
    assert checks["broker port"]["state"] == checks["data directory"]["state"] == "missing"
    assert "--port 0" in checks["broker port"]["remedy"]
    assert "upgrade" in checks["data directory"]["remedy"]


def test_operators_are_shown(headrace: Any) -> None:
    assert "tumbling-window" in headrace("operators").out
    shown = headrace("operators", "filter").out
    assert "condition" in shown
    assert "example" in shown
    (described,) = headrace("operators", "filter", "--json").json["operators"]
    assert described["name"] == "filter"


def test_a_plugin_that_cannot_be_loaded_is_shown(
    headrace: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text("def broken(:\n")
    monkeypatch.setenv("HEADRACE_PLUGINS", str(tmp_path))
    assert "plugin 'broken.py': SyntaxError" in headrace("operators").out
    (problem,) = headrace("operators", "--json").json["problems"]
    assert "broken.py" in problem


def test_completion_is_offered(headrace: Any) -> None:
    # Which shell this runs under is none of the test's business.
    named = replace(headrace, environment={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert "headrace" in named("--show-completion", "bash").out


def test_test_files_that_cannot_run_are_told(headrace: Any, tmp_path: Path) -> None:
    missing = headrace("test", str(tmp_path / "nothing.sql"))
    assert (missing.code, "there is no file" in missing.err) == (2, True)
    path = tmp_path / "case.sql"
    path.write_text("-- @expect s\n-- | a | b |\n-- | 1 |\n")
    broken = headrace("test", str(path))
    assert (broken.code, "1 cells below 2 columns (line 3" in broken.err) == (2, True)
    wrong = headrace("test", str(path), "--mode", "slow")
    assert (wrong.code, "there is no mode 'slow'" in wrong.err) == (2, True)


def test_variables_are_set_on_the_command_line(headrace: Any, tmp_path: Path) -> None:
    path = tmp_path / "drones.sql"
    path.write_text(SQL.replace("< 20", "< ${LIMIT:20}"))
    assert "battery < 20" in headrace("sql", str(path)).out
    assert "battery < 5" in headrace("sql", str(path), "--set", "LIMIT=5").out
    refused = headrace("sql", str(path), "--set", "LIMIT")
    assert (refused.code, "has no =" in refused.err) == (2, True)
