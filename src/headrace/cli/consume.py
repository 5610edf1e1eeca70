"""`headrace consume`: committed records of a topic."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.connect import bootstrap_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import print_json, print_text

if TYPE_CHECKING:
    from headrace.kafka import Record


def command(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic to read.")],
    *,
    start: Annotated[str, typer.Option("--from", help="earliest, latest, or an offset.")] = "earliest",
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Stop after so many records.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more until Ctrl-C.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Print the records of a topic, one line each; with --json each line also has partition, offset, time and key."""
    from headrace.kafka import Reader  # noqa: PLC0415

    with Reader(bootstrap_of(data_dir, bootstrap), topic, start, client_id="headrace-cli") as reader:
        for count, record in enumerate(reader.records(follow=follow), start=1):
            if as_json:
                print_json(_fields(record))
            else:
                print_text((record.value or b"null").decode(errors="replace"))
            if count == limit:
                return


def _fields(record: Record) -> dict[str, object]:
    return {
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": _shown(record.key),
        **_value(record.value),
    }


def _value(value: bytes | None) -> dict[str, object]:
    """JSON as it is, other text as a string, and bytes that are no text in base64 under a name of its own."""
    if value is None:
        return {"value": None}
    try:
        return {"value": json.loads(value)}
    except ValueError:
        text = _shown(value)
        return {"value": text} if text is not None else {"value_base64": base64.b64encode(value).decode()}


def _shown(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
