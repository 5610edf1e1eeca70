"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

DEFAULT_DATA_DIR: Final = Path("headrace-data")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
DataDir = Annotated[
    Path,
    typer.Option("--data-dir", "-d", envvar="HEADRACE_DATA_DIR", help="The data directory of `headrace up`."),
]
Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap", "-b", envvar="HEADRACE_BOOTSTRAP", help="A Kafka address; default: the broker of --data-dir."
    ),
]
