"""The interactive SQL shell: statements until `;`, kept together as one pipeline, shown and started on demand."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.cli.boundary import Invocation, report_errors
from headrace.cli.output import print_text
from headrace.errors import HeadraceError, InvalidInput, NotFound, did_you_mean

if TYPE_CHECKING:
    from headrace.pipeline import Pipeline

HISTORY_FILE: Final = ".headrace_history"
KEYWORDS: Final = (
    "SHOW PIPELINES", "SHOW TOPICS", "SHOW STREAMS", "SHOW TABLES", "DESCRIBE", "DROP TABLE", "EXPLAIN",
    "START PIPELINE", "STOP PIPELINE", "CREATE STREAM", "CREATE TABLE", "PRIMARY KEY", "CREATE VIEW", "INSERT INTO",
    "VALUES", "UPSERT INTO", "UPDATE",
    "DELETE FROM", "UNION ALL", "LEFT JOIN", "JOIN", "WITHIN", "WINDOW SLIDING", "WINDOW SESSION", "ORDER BY", "LIMIT",
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "WINDOW TUMBLING",
    "EMIT FINAL", "EMIT CHANGES", "WITH", "AS", "WATERMARK FOR", "INTERVAL", "STRING", "DOUBLE", "BIGINT", "INT",
    "BOOLEAN", "TIMESTAMP", "avg", "count", "sum", "min", "max",
)  # fmt: skip
_DEFINED: Final = re.compile(r"(?is)\s*CREATE\s+(?P<kind>STREAM|VIEW|TABLE)\s+(?P<name>\w+)")
_NAMES: Final = "SHOW TABLES; SHOW STREAMS; SHOW PIPELINES"
_IS_WRITTEN: Final = re.compile(r"(?is)\s*CREATE\s+(?:STREAM|TABLE)\b.*\bAS\s+SELECT\b")
HELP: Final = """\
A statement ends with ; and is kept with those before it: together they are the pipeline.
SELECT from a table, INSERT INTO … VALUES, UPDATE and DELETE … WHERE, SHOW, DESCRIBE, DROP TABLE, EXPLAIN and START |
STOP | DEPLOY | ROLLBACK PIPELINE are answered at once. CREATE TABLE makes a table for everybody, and is kept as well.
SELECT from a stream, of the statements before or of a saved pipeline, shows rows while they come; Ctrl-C ends it.
  \\show [sql|text|python|json]   the pipeline in a notation
  \\run                           save it and start it on the running server
  \\batch                         run it once over what is there
  \\name NAME                     name the pipeline
  \\undo                          take the last statement back
  \\clear                         forget all statements
  \\quit                          leave (also Ctrl-D)"""


class Shell:
    """Holds the statements. `execute` raises HeadraceError, and then nothing has changed."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._statements: list[str] = []
        self._name = "pipeline"
        self.is_over = False

    @property
    def names(self) -> list[str]:
        """Streams that statements define, for completion."""
        return sorted({found["name"] for text in self._statements if (found := _DEFINED.match(text))})

    def execute(self, entered: str) -> None:
        stripped = entered.strip()
        if stripped.startswith("\\"):
            self._command(*stripped[1:].split())
        elif stripped:
            self._add(stripped)

    def _add(self, statement: str) -> None:
        from headrace.cli.sql import ask_server, asks  # noqa: PLC0415

        defined = _DEFINED.match(statement)
        if defined is not None and defined["kind"].upper() == "TABLE" and not _IS_WRITTEN.match(statement):
            self._declare(statement)
            return
        if asks(statement):
            ask_server("\n".join([*self._statements, statement]), self._data_dir)
            return
        kept = [*self._statements, statement]
        self._pipeline([*kept, *_probe(statement)])
        self._statements = kept
        print_text(f"ok: {len(kept)} statement{'s' * (len(kept) > 1)} in {self._name}")

    def _declare(self, statement: str) -> None:
        """A table of everybody where a server runs; in any case one of this pipeline."""
        from headrace.cli.sql import ask_server  # noqa: PLC0415
        from headrace.operators import Catalogue  # noqa: PLC0415
        from headrace.sql import declared_tables  # noqa: PLC0415

        declared_tables(statement, Catalogue())
        with suppress(NotFound):
            ask_server(statement, self._data_dir)
        self._statements.append(statement)
        print_text(f"ok: {len(self._statements)} statements in {self._name}")

    def server_names(self) -> list[str]:
        """Of tables, streams and pipelines on the server, for completion; none without a server."""
        from headrace.cli.connect import server_of  # noqa: PLC0415

        try:
            with server_of(self._data_dir) as server:
                return sorted({str(row[0]) for result in server.sql(_NAMES) for row in result["rows"]})
        except HeadraceError:
            return []

    def _command(self, name: str = "", *arguments: str) -> None:
        from headrace.cli.sql import run_once, start_on_server  # noqa: PLC0415

        commands: dict[str, Callable[..., None]] = {
            "help": lambda: print_text(HELP),
            "show": self._show,
            "run": lambda: start_on_server(self._pipeline(self._statements), self._data_dir),
            "batch": lambda: run_once(self._pipeline(self._statements), self._data_dir),
            "name": self._rename,
            "undo": self._undo,
            "clear": self._statements.clear,
            "quit": self._quit,
        }
        if name not in commands:
            raise InvalidInput(f"no command \\{name}", valid=list(commands), hint=did_you_mean(name, commands))
        try:
            commands[name](*arguments)
        except TypeError:
            raise InvalidInput(f"\\{name} does not take {len(arguments)} words", hint="\\help") from None

    def _pipeline(self, statements: list[str]) -> Pipeline:
        from headrace.pipeline import Pipeline  # noqa: PLC0415

        return Pipeline.from_sql("\n".join(statements), self._name)

    def _show(self, notation: str = "sql") -> None:
        from headrace.cli.reading import show  # noqa: PLC0415

        print_text(show(self._pipeline(self._statements), notation))

    def _rename(self, name: str) -> None:
        self._name = name

    def _undo(self) -> None:
        if self._statements:
            print_text(f"taken back: {self._statements.pop()}")

    def _quit(self) -> None:
        self.is_over = True


def _probe(statement: str) -> list[str]:
    """A declaration or a view alone runs nothing and would be refused: it is checked by reading it."""
    defined = _DEFINED.match(statement)
    if defined is None or _IS_WRITTEN.match(statement) or "connector" in statement:
        return []
    return [f"CREATE STREAM headrace_probe AS SELECT * FROM {defined['name']};"]  # noqa: S608 - a name of letters


def run_shell(data_dir: Path) -> None:
    """Reads until \\quit or Ctrl-D."""
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.completion import DynamicCompleter, WordCompleter  # noqa: PLC0415
    from prompt_toolkit.history import FileHistory  # noqa: PLC0415

    shell = Shell(data_dir)
    known = shell.server_names()
    completer = DynamicCompleter(lambda: WordCompleter([*KEYWORDS, *shell.names, *known], ignore_case=True))
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(Path.home() / HISTORY_FILE)), completer=completer, complete_while_typing=False
    )
    print_text("SQL on Headrace. \\help lists the commands; a statement ends with ;")
    invocation = Invocation(as_json=False, debug=False)
    while not shell.is_over:
        entered = _read_statement(session.prompt)
        if entered is None:
            return
        report_errors(invocation, lambda _, entered=entered: shell.execute(entered))  # type: ignore[misc]
        known = shell.server_names()


def _read_statement(prompt: Callable[[str], str]) -> str | None:
    """Lines up to the end of a statement, or one command line. None at the end of input; Ctrl-C begins anew."""
    from headrace.sql import is_complete  # noqa: PLC0415

    lines: list[str] = []
    while True:
        try:
            line = prompt("sql> " if not lines else "...> ")
        except KeyboardInterrupt:
            lines = []
            continue
        except EOFError:
            return None
        lines.append(line)
        if (len(lines) == 1 and line.lstrip().startswith("\\")) or is_complete("\n".join(lines)):
            return "\n".join(lines)
        if not "".join(lines).strip():
            lines = []
