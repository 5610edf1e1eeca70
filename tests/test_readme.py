"""What the README shows is what Headrace does: every block of code, every command, every link."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from headrace.cli import app
from headrace.graph import Document
from headrace.pipeline import Pipeline
from headrace.sql import parse

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
WORDS_MAX = 900
FIRST_COMMAND_LINE_MAX = 30
RUN_TIMEOUT_S = 240


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def console_lines() -> list[str]:
    return [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


def text_pipeline() -> str:
    (found,) = re.findall(r"`(topic .*? ! .*?)`", README, re.DOTALL)
    return str(found)


def command_rows() -> list[tuple[str, str]]:
    """The table of commands: names of the first column, explanation of the second."""
    section = README.split("## Commands", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| (`headrace.*?) \| (.*) \|$", section, re.MULTILINE)


def usages() -> Iterator[list[str]]:
    """Every way in which `headrace` is called: the words after it, options included."""
    for line in console_lines():
        for part in line.split("|"):
            words = shlex.split(part, comments=True)
            if words[0] == "headrace":
                yield words[1:]
    for names, explanation in command_rows():
        options = [word for code in re.findall(r"`(-.*?)`", explanation) for word in code.split()]
        for name in re.findall(r"`(?:headrace )?(.*?)`", names):
            yield [*name.split(), *options]


def find_command(words: list[str]) -> Any:
    """The command that these words call, as Typer made it; fails for one that does not exist."""
    command: Any = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "commands"):
            break
        assert word in command.commands, f"headrace {' '.join(words)}: there is only {sorted(command.commands)}"
        command = command.commands[word]
    return command


def options_of(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def leaves(command: Any) -> Iterator[Any]:
    """All commands that have no commands below them."""
    if not hasattr(command, "commands"):
        yield command
    for child in getattr(command, "commands", {}).values():
        yield from leaves(child)


def through_all_notations(document: Document) -> list[Document]:
    pipeline = Pipeline.from_document(document)
    variables: dict[str, Any] = {}
    exec(pipeline.to_python(), variables)
    return [
        Pipeline.from_sql(pipeline.to_sql()).document(),
        Pipeline.from_text(pipeline.to_text(), pipeline.name).document(),
        variables["pipeline"].document(),
        Document.from_json(document.to_json()),
    ]


def built_in_python() -> Pipeline:
    """The pipeline of the Python block, without the part that runs it."""
    (with_block,) = (node for node in ast.parse(blocks("python")[0]).body if isinstance(node, ast.With))
    names = {statement: {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} for statement in with_block.body}
    building = [statement for statement, used in names.items() if not used & {"h", "print"}]
    variables: dict[str, Any] = {}
    exec("import headrace\n" + "\n".join(ast.unparse(statement) for statement in building), variables)
    found = variables["pipeline"]
    assert isinstance(found, Pipeline)
    return found


def test_it_is_short_and_begins_with_a_command() -> None:
    assert len(README.split()) <= WORDS_MAX
    lines = README.splitlines()
    assert next(number for number, line in enumerate(lines, 1) if line.startswith("$ ")) < FIRST_COMMAND_LINE_MAX


def test_the_sql_is_the_same_pipeline_in_all_notations() -> None:
    (sql,) = blocks("sql")
    document = parse(sql)
    assert document.name == "drones"
    Pipeline.from_document(document).validate()
    assert through_all_notations(document) == [document] * 4


def test_python_and_text_are_the_same_pipeline_in_all_notations() -> None:
    pipeline = Pipeline.from_text(text_pipeline(), "alerts")
    pipeline.validate()
    assert pipeline == built_in_python()
    assert through_all_notations(pipeline.document()) == [pipeline.document()] * 4


def test_every_command_and_option_exists() -> None:
    called = list(usages())
    assert len(called) > 10
    for words in called:
        wanted = {word for word in words if word.startswith("--")}
        assert wanted <= options_of(find_command(words)), words


def test_the_help_of_every_command_is_there() -> None:
    for name in {words[0] for words in usages()}:
        done = CliRunner().invoke(app, [name, "--help"], prog_name="headrace")
        assert done.exit_code == 0, done.output
        assert f"headrace {name}" in done.output


def test_every_command_takes_json() -> None:
    without = [command.name for command in leaves(typer.main.get_command(app)) if "--json" not in options_of(command)]
    assert not without


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", README)) <= targets


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)(.*?)\)", README):
        assert (ROOT / target).exists(), target


def run(command: list[str], directory: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
    )


@pytest.mark.slow
def test_the_python_block_runs(tmp_path: Path) -> None:
    done = run([sys.executable, "-c", blocks("python")[0]], tmp_path, dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == Pipeline.from_text(text_pipeline(), "alerts").to_sql().strip()


@contextmanager
def started(command: str, directory: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        shlex.split(command),
        cwd=directory,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_five_minutes_work_as_written(tmp_path: Path, kcat: str) -> None:
    (tmp_path / "drones.sql").write_text(blocks("sql")[0])
    folders = [str(Path(program).parent) for program in (sys.executable, kcat)]
    environment = {**os.environ, "PATH": ":".join([*folders, os.environ["PATH"]])}
    section = README.split("## Five minutes", 1)[1]
    lines = [line[2:] for line in section.splitlines() if line.startswith("$ ") and "activate" not in line]
    assert lines.pop(0) == "headrace up"
    with started("headrace up --port 0 --http-port 0 --json", tmp_path, environment) as platform:
        assert platform.stdout is not None
        address = json.loads(platform.stdout.readline())["bootstrap"]
        for line in lines:
            if line.endswith("--follow"):
                with started(line, tmp_path, environment) as following:
                    assert following.stdout is not None
                    assert '"drone":"d1"' in following.stdout.readline()
                continue
            done = run(["bash", "-c", line.replace("127.0.0.1:9092", address)], tmp_path, environment)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
