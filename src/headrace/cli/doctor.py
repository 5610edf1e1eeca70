"""`headrace doctor`: what is missing on this machine, and how to mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import print_json, print_table


def command(
    port: Annotated[int, typer.Option("--port", help="The broker's port to look at.")] = 9092,
    http_port: Annotated[int, typer.Option("--http-port", help="The server's port to look at.")] = 8484,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Check Python, Java, memory, disk, ports and the data directory. Exits with 1 if something needed is missing."""
    from rich.text import Text  # noqa: PLC0415

    from headrace.cli.health import examine  # noqa: PLC0415

    findings = examine(data_dir, port, http_port)
    broken = any(finding.state == "missing" for finding in findings)
    if as_json:
        print_json({"healthy": not broken, "checks": [finding.to_dict() for finding in findings]})
    else:
        styles = {"fine": "green", "optional": "yellow", "missing": "bold red"}
        rows = ((f.name, Text(f.state, styles[f.state]), f.found, f.remedy or "") for f in findings)
        print_table(("check", "state", "found", "how to mend it"), rows, empty="")
    raise typer.Exit(1 if broken else 0)
