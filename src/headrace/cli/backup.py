"""`headrace backup`: a consistent copy of everything, while it runs."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated

import typer

from headrace.cli.connect import own_broker
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import print_json


def command(
    target: Annotated[str, typer.Argument(help="A folder, or s3://bucket/prefix and the like.")],
    *,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Save topics, groups and pipelines as they are now. Only what is new since the last time is sent."""
    from headrace.backup import create_backup, open_objects  # noqa: PLC0415
    from headrace.errors import NotFound  # noqa: PLC0415
    from headrace.process import RunInfo  # noqa: PLC0415
    from headrace.process.private import PRIVATE_UMASK  # noqa: PLC0415

    os.umask(PRIVATE_UMASK)  # a copy is as private as what it was made of
    try:
        bootstrap = own_broker(RunInfo.read(data_dir))
    except NotFound:
        bootstrap = None
    report = create_backup(data_dir, open_objects(target), bootstrap=bootstrap)
    if as_json:
        print_json(asdict(report))
        return
    typer.echo(f"saved {report.topic_count} topics with {report.record_count:,} offsets as of {report.time_ms} ms")
    typer.echo(f"{report.sent_bytes / 1e6:,.1f} MB were new of {report.total_bytes / 1e6:,.1f} MB of log")
