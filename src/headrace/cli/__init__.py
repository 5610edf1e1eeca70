"""The command line. Each command is one thin file; what a command needs is imported when it runs, so help is quick."""

from __future__ import annotations

import sys
from signal import SIGTERM, default_int_handler
from signal import signal as set_handler
from typing import Annotated

import typer

from headrace.cli import (
    backup,
    bench,
    consume,
    demo,
    doctor,
    logout,
    operator,
    operators,
    pipeline,
    produce,
    restore,
    secret,
    signal,
    sql,
    state,
    test,
    topic,
    up,
    user,
)
from headrace.cli.boundary import Invocation, report_errors

__all__ = ["app", "main"]

app = typer.Typer(
    name="headrace",
    help="A durable log that speaks Kafka, and pipelines on Spark. Start with `headrace demo` or `headrace up`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("up")(up.command)
app.command("demo")(demo.command)
app.command("sql")(sql.command)
app.command("test")(test.command)
app.add_typer(topic.app, name="topic")
app.command("produce")(produce.command)
app.command("consume")(consume.command)
app.add_typer(user.app, name="user")
app.add_typer(secret.app, name="secret")
app.command("logout")(logout.command)
app.add_typer(pipeline.app, name="pipeline")
app.command("backup")(backup.command)
app.command("restore")(restore.command)
app.command("operators")(operators.command)
app.add_typer(operator.app, name="operator")
app.add_typer(state.app, name="state")
app.add_typer(signal.app, name="signal")
app.add_typer(bench.app, name="bench")
app.command("doctor")(doctor.command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from headrace import __version__  # noqa: PLC0415

        typer.echo(f"headrace {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that stand before the command."""


def main() -> None:
    """The entry of the `headrace` program."""
    # As Ctrl-C: a command ends in order. A shell that runs it in the background may have had SIGINT ignored.
    set_handler(SIGTERM, default_int_handler)
    invocation = Invocation.of(sys.argv[1:])
    sys.exit(report_errors(invocation, lambda standalone: app(prog_name="headrace", standalone_mode=standalone)))
