"""`headrace restore`: a backup's way back."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import DEFAULT_DATA_DIR, Json
from headrace.cli.output import print_json
from headrace.errors import InvalidInput


def command(
    source: Annotated[str, typer.Argument(help="Where `headrace backup` saved to.")],
    *,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", "-d", envvar="HEADRACE_DATA_DIR", help="An empty or a new directory.")
    ] = DEFAULT_DATA_DIR,
    at: Annotated[
        str | None,
        typer.Option("--at", help="The newest moment not after this: 2026-01-31T12:00:00Z, or ms since 1970."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring a data directory back as it was. Then start it with `headrace up`."""
    from headrace.backup import open_objects, restore_backup  # noqa: PLC0415
    from headrace.process.private import PRIVATE_UMASK  # noqa: PLC0415

    os.umask(PRIVATE_UMASK)
    manifest = restore_backup(open_objects(source), data_dir, time_ms=None if at is None else _time_ms(at))
    moment = datetime.fromtimestamp(manifest.time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    if as_json:
        print_json({"time_ms": manifest.time_ms, "topic_count": len(manifest.topics), "data_dir": str(data_dir)})
        return
    typer.echo(f"restored {len(manifest.topics)} topics as of {moment} into {data_dir}")


def _time_ms(text: str) -> int:
    """Raises InvalidInput."""
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is no time", valid=["2026-01-31T12:00:00Z", "milliseconds since 1970"]) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
