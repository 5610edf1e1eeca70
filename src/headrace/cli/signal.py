"""`headrace signal`: events that are no rows, at one place in the stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connect import bootstrap_of, server_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import print_json, print_table, print_text
from headrace.errors import InvalidInput

if TYPE_CHECKING:
    from headrace.wire.client import Client

app = typer.Typer(help="Send signals to pipelines and list them.", no_args_is_help=True)


@app.command("send")
def send(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="pause, resume, stop, close_window, custom, …")],
    *,
    pipeline: Annotated[str | None, typer.Option("--pipeline", "-p", help="The pipeline that it is for.")] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", help="For all who read this topic; may be repeated."),
    ] = None,
    node: Annotated[str | None, typer.Option("--node", "-n", help="The operator that it is for; default: all.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-P", metavar="NAME=VALUE", help="JSON, or else a text; may be repeated."),
    ] = None,
    handling: Annotated[str, typer.Option("--handling", help="once, until_handled or always.")] = "once",
    signal_id: Annotated[str | None, typer.Option("--id", help="Sent twice under one id it is placed once.")] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Send a signal; done when it has its place in every partition."""
    asked: dict[str, Any] = {
        "kind": kind.replace("-", "_"),
        "node": node,
        "parameters": dict(_parameter(item) for item in parameter or ()),
        "handling": handling,
        "id": signal_id,
    }
    if (pipeline is None) == (not topic):
        raise InvalidInput("a signal is for a pipeline, or names topics", valid=["--pipeline NAME", "--topic NAME"])
    if pipeline is not None:
        with server_of(data_dir) as server:
            placed = server.signal({**asked, "pipeline": pipeline})
    else:
        placed = _send_to_topics(asked, topic or [], data_dir, bootstrap)
    if as_json:
        print_json(placed)
    else:
        print_text(f"{placed['kind']} {placed['id']} placed: {_cut(placed)}")


@app.command("list")
def listing(
    pipeline: Annotated[str | None, typer.Option("--pipeline", "-p", help="Only what concerns this one.")] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """List the signals that the broker knows, in the order of their places."""
    from headrace.wire.client.signals import known_signals  # noqa: PLC0415

    with _client(data_dir, bootstrap) as client:
        found = [record.to_json() for record in known_signals(client)]
    shown = [signal for signal in found if pipeline is None or signal["pipeline"] in (None, pipeline)]
    if as_json:
        print_json({"signals": shown})
        return
    rows = ((s["number"], s["id"], s["kind"], s["pipeline"] or "all", s["node"] or "all", _cut(s)) for s in shown)
    print_table(("number", "id", "kind", "pipeline", "node", "cut"), rows, empty="no signals yet")


def _send_to_topics(asked: dict[str, Any], topics: list[str], data_dir: DataDir, bootstrap: str | None) -> Any:
    import uuid  # noqa: PLC0415

    from headrace.signals import SignalRequest  # noqa: PLC0415
    from headrace.wire.client.signals import send_signal  # noqa: PLC0415

    request = SignalRequest(**{**asked, "id": asked["id"] or uuid.uuid4().hex, "topics": tuple(topics)})
    with _client(data_dir, bootstrap) as client:
        return send_signal(client, request).to_json()


def _client(data_dir: DataDir, bootstrap: str | None) -> Client:
    from headrace.wire.client import Client  # noqa: PLC0415

    return Client(bootstrap_of(data_dir, bootstrap), client_id="headrace-cli")


def _parameter(item: str) -> tuple[str, Any]:
    name, equals, value = item.partition("=")
    if not equals or not name:
        raise InvalidInput(f"{item!r} is no parameter", valid=["NAME=VALUE, such as threshold=0.8"])
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _cut(signal: dict[str, Any]) -> str:
    """`telemetry 0:17 1:4`, or why there is none."""
    if signal["state"] != "placed":
        return str(signal["reason"] or signal["state"])
    ends = (f"{topic} {' '.join(f'{p}:{end}' for p, end in cut.items())}" for topic, cut in signal["cut"].items())
    return ", ".join(ends)
