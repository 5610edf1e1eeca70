"""The rows of a SELECT over streams, shown while they come: a table that changes in place, rows below each other, or
lines of JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from headrace.cli.connect import server_of
from headrace.cli.output import console, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, Group

Row: TypeAlias = dict[str, Any]

# Rows of a table that changes which are kept; what was changed longest ago goes first.
KEPT_MAX: Final = 1_000
_FRAMES_PER_SECOND: Final = 8
# Lines of a terminal that are not rows: the heading, what is left out, the status, the prompt.
_OTHER_LINES: Final = 4
_GAP: Final = "  "
_CELL_CHARACTERS_MIN: Final = 4
_WAITING: Final = "waiting for rows; Ctrl-C ends"


def show_live(sql: str, data_dir: Path, *, start: str | None = None, as_json: bool = False) -> None:
    """Until the LIMIT of the SELECT is there, or Ctrl-C. Raises what the server raises."""
    with server_of(data_dir) as server, closing(server.look(sql, start)) as lines:
        try:
            _show(lines, as_json=as_json)
        except KeyboardInterrupt:
            return


def _show(lines: Iterator[dict[str, Any]], *, as_json: bool) -> None:
    out = console()
    if as_json:
        for row in _rows(lines):
            print_json(row)
        return
    with out.status("starting", spinner="dots") as status:
        if not out.is_terminal:
            status.stop()
        first = next(lines)
        status.update(_WAITING)
        if first["keys"] is None or not out.is_terminal:
            scrolling = Scrolling(first["columns"], out.width)
            for count, row in enumerate(_rows(lines), start=1):
                for line in scrolling.lines(row):
                    out.print(line, markup=False, no_wrap=True, crop=False)
                status.update(f"{count} row{'s' * (count > 1)}; Ctrl-C ends")
            return
    _show_changing(out, ChangingRows(first["columns"], first["keys"]), lines)


def _rows(lines: Iterator[dict[str, Any]]) -> Iterator[Row]:
    for line in lines:
        yield from line.get("rows", ())


def _show_changing(out: Console, changing: ChangingRows, lines: Iterator[dict[str, Any]]) -> None:
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    with Live(Text(_WAITING, style="dim"), console=out, refresh_per_second=_FRAMES_PER_SECOND) as live:
        try:
            for row in _rows(lines):
                changing.add(row)
                live.update(changing.shown(out.height - _OTHER_LINES))
        finally:
            live.update(changing.shown(out.height - _OTHER_LINES, is_over=True))


class ChangingRows:
    """The latest row of each key, in the order in which keys came. Without keys there is one row."""

    def __init__(self, columns: Sequence[str], keys: Sequence[str]) -> None:
        self._columns = columns
        self._keys = keys
        self._rows: dict[str, Row] = {}
        self._changes = 0

    def add(self, row: Row) -> None:
        self._rows[json.dumps([row.get(key) for key in self._keys])] = row
        self._changes += 1
        if len(self._rows) > KEPT_MAX:
            del self._rows[next(iter(self._rows))]

    def shown(self, height: int, *, is_over: bool = False) -> Group:
        """The newest rows that fit, and below them how many there are."""
        from rich.console import Group  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        rows = list(self._rows.values())[-max(1, height) :]
        table = Table(*self._columns, header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            cells = [cell_text(row.get(name)) for name in self._columns]
            table.add_row(*(Text(cell, overflow="ellipsis", no_wrap=True) for cell in cells))
        left_out = len(self._rows) - len(rows)
        told = [f"{len(self._rows)} rows", f"{self._changes} changes", *([f"{left_out} not shown"] if left_out else [])]
        return Group(table, Text(", ".join(told) + ("" if is_over else "; Ctrl-C ends"), style="dim"))


class Scrolling:
    """Rows below each other in columns that grow with what comes, within the width of the terminal."""

    def __init__(self, columns: Sequence[str], width: int) -> None:
        self._columns = columns
        self._widths = [len(name) for name in columns]
        gaps = len(_GAP) * (len(columns) - 1)
        self._most = max(_CELL_CHARACTERS_MIN, (width - gaps) // max(1, len(columns)))
        self._width = width
        self._has_heading = False

    def lines(self, row: Row) -> list[str]:
        """The row, below the heading if it is the first one."""
        cells = [cell_text(row.get(name)) for name in self._columns]
        self._grow(cells)
        heading = [] if self._has_heading else [self._line(self._columns)]
        self._has_heading = True
        return [*heading, self._line(cells)]

    def _grow(self, cells: Sequence[str]) -> None:
        """A column may take its share of the width, and what others leave."""
        wanted = [max(width, len(cell)) for width, cell in zip(self._widths, cells, strict=True)]
        gaps = len(_GAP) * (len(wanted) - 1)
        fits = sum(wanted) + gaps <= self._width
        self._widths = wanted if fits else [min(width, self._most) for width in wanted]

    def _line(self, cells: Sequence[str]) -> str:
        pairs = zip(cells, self._widths, strict=True)
        return _GAP.join(_cut(cell, width).ljust(width) for cell, width in pairs).rstrip()


def cell_text(value: object) -> str:
    """As people read it: a null is an empty cell, lists and structs are JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
