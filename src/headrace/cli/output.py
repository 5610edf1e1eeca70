"""What commands print: a table or lines for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    from rich.console import Console  # noqa: PLC0415

    return Console(highlight=False)


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line; flushed, for a reader may wait for it."""
    sys.stdout.write(json.dumps(value, default=str) + "\n")
    sys.stdout.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """`empty` is said instead of a table without rows."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*columns, header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    out = console()
    if table.row_count:
        out.print(table)
    else:
        out.print(empty, style="dim", markup=False)


def print_text(text: str) -> None:
    """As it is: no markup, no wrapping."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()
