"""`headrace sql`: a pipeline in SQL, checked, shown in any notation, started, or run once; or a shell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connect import server_of
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import console, print_json, print_table, print_text
from headrace.cli.starting import Begin, Reset, Truncate, Yes, choice, confirmed, print_started
from headrace.errors import InvalidInput, LiveQuestion

if TYPE_CHECKING:
    from headrace.pipeline import Pipeline

STARTS = ("earliest", "latest")


def command(
    source: Annotated[
        str | None, typer.Argument(metavar="[FILE|STATEMENT|-]", help="A .sql file, SQL, or - for standard input.")
    ] = None,
    *,
    to: Annotated[str, typer.Option("--to", help="Show it as sql, text, python or json.")] = "sql",
    run: Annotated[bool, typer.Option("--run", help="Save it and start it on the running server.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Run it once over what is there.")] = False,
    name: Annotated[str | None, typer.Option("--name", help="The pipeline's name; default: that of -- @name.")] = None,
    begin: Begin = None,
    reset: Reset = False,
    yes: Yes = False,
    truncate: Truncate = False,
    values: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE for ${NAME} in the SQL; else from the environment.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Where a SELECT over streams begins: earliest or latest.")
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Check SQL and show it; --run starts it, --batch runs it once; SELECT, SHOW and EXPLAIN ask. Without SQL: a shell.

    A SELECT over streams shows rows while they come, until its LIMIT or Ctrl-C.
    """
    if source is None:
        from headrace.cli.sql_shell import run_shell  # noqa: PLC0415

        run_shell(data_dir)
        return
    if run and batch:
        raise InvalidInput("--run and --batch exclude each other")
    wished = choice(begin, reset=reset, yes=yes, truncate=truncate)
    if (begin or reset) and not run:
        raise InvalidInput(f"{'--reset' if reset else '--begin'} is for --run")

    from headrace.cli.reading import read_source, show  # noqa: PLC0415
    from headrace.sql import expand  # noqa: PLC0415

    given, variables = read_source(source, name), _variables(values or [])
    if given.notation == "sql" and asks(expanded := expand(given.content, variables)):
        ask_server(expanded, data_dir, start=_start(start), as_json=as_json)
        return
    pipeline = given.pipeline(variables)
    if run:
        start_on_server(pipeline, data_dir, wished, as_json=as_json)
    elif batch:
        run_once(pipeline, data_dir, as_json=as_json)
    elif as_json:
        print_json({"pipeline": pipeline.name, "document": pipeline.document().to_dict(), to: show(pipeline, to)})
    else:
        print_text(show(pipeline, to))


def _start(given: str | None) -> str | None:
    if given not in (None, *STARTS):
        raise InvalidInput(f"--from {given!r} is no place to begin", valid=STARTS)
    return given


def _variables(values: list[str]) -> dict[str, str]:
    """Those of the command line win over those of the environment."""
    for value in values:
        if "=" not in value:
            raise InvalidInput(f"--set {value!r} has no =", hint="--set NAME=VALUE")
    return {**os.environ, **dict(value.split("=", 1) for value in values)}


def asks(sql: str) -> bool:
    """Whether the SQL asks or steers instead of defining a pipeline. Raises InvalidSyntax with the place."""
    from headrace.sql import read_requests  # noqa: PLC0415

    return bool(read_requests(sql))


def ask_server(sql: str, data_dir: DataDir, *, start: str | None = None, as_json: bool = False) -> None:
    """SELECT from tables, changes of them, SHOW, EXPLAIN and the statements about pipelines: a table for each.

    The rows of a SELECT over streams are shown while they come.
    """
    try:
        with server_of(data_dir) as server:
            results = server.sql(sql)
    except LiveQuestion:
        from headrace.cli.live import show_live  # noqa: PLC0415

        show_live(sql, data_dir, start=start, as_json=as_json)
        return
    if as_json:
        print_json({"results": results})
        return
    for result in results:
        if result["columns"] == ["explained"]:
            print_text("\n".join(line for (line,) in result["rows"]))
        else:
            rows = (tuple("" if cell is None else cell for cell in row) for row in result["rows"])
            print_table(tuple(result["columns"]), rows, empty="nothing")


def start_on_server(
    pipeline: Pipeline, data_dir: DataDir, wished: dict[str, Any] | None = None, *, as_json: bool = False
) -> None:
    """Saves it and runs it, instead of the version that runs now; what is refused is not saved."""
    from headrace.cli.reading import body  # noqa: PLC0415

    with server_of(data_dir) as server:
        made = confirmed(
            lambda chosen: server.run(body(pipeline), note="headrace sql --run", **chosen),
            wished or {},
            as_json=as_json,
        )
    if as_json:
        print_json(made)
    else:
        print_started(made["job"])


def run_once(pipeline: Pipeline, data_dir: DataDir, *, as_json: bool = False) -> None:
    from headrace.cli.reading import body  # noqa: PLC0415

    out = console()
    with server_of(data_dir) as server, out.status("running", spinner="dots") as status:
        if as_json or not out.is_terminal:
            status.stop()
        result = server.run_batch(body(pipeline))
    if as_json:
        print_json(result)
        return
    print_table(("node", "rows out"), result["rows"].items(), empty="no rows")
    out.print(f"{result['seconds']:.1f} s", style="dim")
