from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.cli.sql_shell import Shell, _read_statement
from headrace.errors import InvalidInput, InvalidSyntax, NotFound

TELEMETRY = "CREATE STREAM telemetry (drone STRING, battery DOUBLE) WITH (topic = 'telemetry', format = 'json');"
LOW = "CREATE STREAM low AS SELECT drone FROM telemetry WHERE battery < 20;"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_statements_become_one_pipeline(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    for entered in (TELEMETRY, LOW, "\\name alerts", "\\show text"):
        shell.execute(entered)
    printed = capsys.readouterr().out
    assert "ok: 2 statements" in printed
    assert "topic telemetry" in printed
    assert shell.names == ["low", "telemetry"]


def test_wrong_statement_changes_nothing(shell: Shell) -> None:
    shell.execute(TELEMETRY)
    with pytest.raises(InvalidSyntax, match="batery"):
        shell.execute(LOW.replace("battery", "batery"))
    with pytest.raises(InvalidSyntax):
        shell.execute("CREATE STREAM bad (a NONSENSE);")
    assert shell.names == ["telemetry"]


def test_a_table_is_kept_and_can_be_joined(shell: Shell) -> None:
    """Without a server it is one of this pipeline alone."""
    shell.execute(TELEMETRY)
    shell.execute("CREATE TABLE owners (drone STRING PRIMARY KEY, owner STRING);")
    shell.execute("CREATE STREAM owned AS SELECT t.drone, owner FROM telemetry t JOIN owners o ON t.drone = o.drone;")
    assert shell.names == ["owned", "owners", "telemetry"]
    assert shell.server_names() == []
    with pytest.raises(InvalidSyntax, match="has no key"):
        shell.execute("CREATE TABLE keyless (a STRING);")
    assert shell.names == ["owned", "owners", "telemetry"]


@pytest.mark.parametrize("sql", ["SELECT * FROM owners;", "DELETE FROM owners WHERE drone = 'a';"])
def test_questions_and_changes_need_a_server(shell: Shell, sql: str) -> None:
    with pytest.raises(NotFound, match="no Headrace runs"):
        shell.execute(sql)


def test_undo_and_clear(shell: Shell) -> None:
    shell.execute(TELEMETRY)
    shell.execute(LOW)
    shell.execute("\\undo")
    assert shell.names == ["telemetry"]
    shell.execute("\\clear")
    assert shell.names == []


def test_unknown_commands_list_the_known_ones(shell: Shell) -> None:
    with pytest.raises(InvalidInput) as caught:
        shell.execute("\\shwo")
    assert "show" in caught.value.valid
    with pytest.raises(InvalidInput, match="does not take 2 words"):
        shell.execute("\\name a b")


def test_run_needs_a_server(shell: Shell) -> None:
    shell.execute(TELEMETRY)
    shell.execute(LOW)
    with pytest.raises(NotFound, match="no Headrace runs"):
        shell.execute("\\run")


def test_quit(shell: Shell) -> None:
    shell.execute("\\quit")
    assert shell.is_over


def test_statement_is_read_over_lines_and_ctrl_c_begins_anew() -> None:
    entered: Iterator[str | BaseException] = iter(
        ["", "CREATE STREAM", KeyboardInterrupt(), "SELECT", "  1;", "\\help", EOFError()]
    )

    def prompt(shown: str) -> str:
        following = next(entered)
        if isinstance(following, str):
            return following
        raise following

    assert _read_statement(prompt) == "SELECT\n  1;"
    assert _read_statement(prompt) == "\\help"
    assert _read_statement(prompt) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["SELECT 1; -- one"],
        ["SELECT -- no end;", "1;"],
        ["SELECT ';", "' AS a;"],
        ["/* not yet;", "*/ SELECT 1;"],
        ["PARTITION WITH (k OF t) BEGIN", "INSERT INTO o SELECT k FROM t;", "END;"],
    ],
)
def test_a_statement_ends_where_it_does(lines: list[str]) -> None:
    following = iter(lines)
    assert _read_statement(lambda _: next(following)) == "\n".join(lines)
