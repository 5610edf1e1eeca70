"""`headrace produce`: records from standard input, or from the command line, into a topic."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.connect import bootstrap_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import console, print_json
from headrace.credential import require_ordinary
from headrace.errors import InvalidInput

if TYPE_CHECKING:
    from rich.progress import Progress


def command(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic to write to.")],
    *,
    value: Annotated[list[str] | None, typer.Option("--value", help="A record; may be repeated.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="The key of every record.")] = None,
    key_field: Annotated[str | None, typer.Option("--key-field", help="The field that holds the key.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Lines are taken as they are, not as JSON.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Write records: lines of JSON from standard input, or --value."""
    if key_field is not None and (raw or key is not None):
        raise InvalidInput("--key-field goes with neither --raw nor --key")
    require_ordinary(topic)
    address = bootstrap_of(data_dir, bootstrap)
    _require_topic(address, topic)

    from headrace.kafka import Sender  # noqa: PLC0415

    sender = Sender(address, client_id="headrace-cli")
    with _progress(show=value is None and not as_json) as progress:
        try:
            for number, text in enumerate(value if value is not None else _lines(), start=1):
                sender.send(topic, text.encode(), _key(number, text, key, key_field, raw))
                progress.update(progress.task_ids[0], completed=sender.acked)
        finally:
            # What stands before a bad line is sent all the same.
            sender.flush()
    if as_json:
        print_json({"topic": topic, "records": sender.acked})
    else:
        console().print(f"{sender.acked} records acknowledged", markup=False)


def _lines() -> Iterator[str]:
    return (stripped for line in sys.stdin if (stripped := line.rstrip("\r\n")))


def _key(number: int, text: str, key: str | None, key_field: str | None, raw: bool) -> bytes | None:
    """Checks the record on the way. Raises InvalidInput that names the line."""
    if not raw:
        try:
            fields = json.loads(text)
        except ValueError as error:
            hint = f"records before it were sent; {text[:80]!r} can be sent with --raw"
            raise InvalidInput(f"record {number} is no JSON: {error}", hint=hint) from None
        if key_field is not None:
            key = _field(number, fields, key_field)
    return None if key is None else key.encode()


def _field(number: int, fields: object, key_field: str) -> str:
    if not isinstance(fields, dict) or key_field not in fields:
        known = sorted(fields) if isinstance(fields, dict) else []
        raise InvalidInput(f"record {number} has no field {key_field!r}", valid=known)
    found = fields[key_field]
    return found if isinstance(found, str) else json.dumps(found)


def _require_topic(address: str, topic: str) -> None:
    from headrace.errors import NotFound  # noqa: PLC0415
    from headrace.wire.client import Client  # noqa: PLC0415

    with Client(address, client_id="headrace-cli") as client:
        if topic not in client.metadata([topic]).topics:
            raise NotFound(f"no topic {topic!r}", hint=f"headrace topic create {topic}")


def _progress(*, show: bool) -> Progress:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} records acknowledged"), TimeElapsedColumn())
    shown = Console(stderr=True)
    progress = Progress(*columns, console=shown, transient=True, disable=not (show and shown.is_terminal))
    progress.add_task("records", total=None)
    return progress
