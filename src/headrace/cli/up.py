"""`headrace up`: broker and server, kept running until Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.connect import kafka_address
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import console, print_json
from headrace.errors import InvalidInput

if TYPE_CHECKING:
    from headrace.process.run_file import RunInfo


def command(
    *,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    port: Annotated[int, typer.Option("--port", help="The broker's port; 0 picks a free one.")] = 9092,
    http_port: Annotated[int, typer.Option("--http-port", help="The server's port; 0 picks a free one.")] = 8484,
    spark: Annotated[
        str | None, typer.Option("--spark", help="A Spark master: spark://host:port, k8s://…; default: embedded.")
    ] = None,
    broker: Annotated[
        str | None, typer.Option("--broker", help="kafka://host:port of a cluster to use instead of our own broker.")
    ] = None,
    broker_config: Annotated[
        Path | None,
        typer.Option("--broker-config", help="A TOML file with settings of the broker: listeners, TLS, SASL, limits."),
    ] = None,
    no_anonymous: Annotated[
        bool,
        typer.Option(
            "--no-anonymous",
            help="Take only Kafka clients that authenticate; without users, Headrace's own parts alone.",
        ),
    ] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new token: browsers must be let in anew by the printed address.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the broker and the server, and keep both running. Ctrl-C stops them."""
    from headrace.server.stack import Stack, StackSettings  # noqa: PLC0415

    address = None if broker is None else kafka_address(broker)
    if address is not None and (no_anonymous or broker_config is not None):
        raise InvalidInput(
            "--broker-config and --no-anonymous are settings of Headrace's own broker; with --broker there is none",
            hint="leave them out, and set up authentication in the cluster",
        )
    out = console()

    def say(sentence: str) -> None:
        if not as_json:
            out.print(sentence, style="dim", markup=False)

    settings = StackSettings(
        data_dir,
        port,
        http_port,
        address,
        spark,
        broker_config=broker_config,
        anonymous=not no_anonymous,
        new_token=new_token,
    )
    stack = Stack(settings, log=say)

    def stop(number: int, frame: FrameType | None) -> None:
        say("stopping")
        stack.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    stack.run(lambda info: _announce(info, as_json))
    say("stopped")


def _announce(info: RunInfo, as_json: bool) -> None:
    if as_json:
        print_json(
            {"ready": True, "url": info.url_with_token, "bootstrap": info.public or info.bootstrap, "pid": info.pid}
        )
        return
    out = console()
    out.print("\n[bold green]Headrace is ready[/]")
    who = "Kafka clients that authenticate" if info.authenticated else "any Kafka client"
    out.print(f"  broker  {info.public or info.bootstrap}  ({who})", markup=False)
    out.print(f"  editor  {info.url_with_token}", markup=False, soft_wrap=True)
    out.print("\nCtrl-C stops it.\n", style="dim")
