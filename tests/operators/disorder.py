"""Random rows out of order, cut into files at random places: the same input for a batch and for many streams."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

WATERMARK_S = 20
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Input:
    """Rows with a time in seconds `t` and the same as `ts`, in the order of arrival, and the files they come in."""

    rows: Sequence[Row]
    cuts: Sequence[Sequence[Row]]

    def write(self, folder: Path) -> str:
        """All files; returns a source in text notation."""
        for _ in self.arriving(folder):
            pass
        return source(folder)

    def arriving(self, folder: Path) -> Iterator[int]:
        """One more file each time it is asked."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, rows in enumerate(self.cuts):
            lines = (json.dumps(row) + "\n" for row in rows)
            path = folder / f"{number:03}.json"
            path.write_text("".join(lines))
            # Spark takes files in the order of their times.
            os.utime(path, (number, number))
            yield number


def source(folder: Path) -> str:
    schema = "k STRING, v BIGINT, t BIGINT, ts TIMESTAMP"
    return f'file {folder} schema="{schema}" event_time=ts watermark="{WATERMARK_S} seconds" max_files_per_batch=1'


def random_input(seed: int, row_count: int = 120, file_count: int = 4, from_s: int = 0) -> Input:
    """None of the rows is late; the last one comes so much later that everything before it is closed."""
    chance = random.Random(seed)
    times = sorted(chance.randrange(from_s, from_s + 300) for _ in range(row_count))
    arrival = sorted(times, key=lambda t: t + chance.randrange(WATERMARK_S))
    rows = [_row(chance.choice("abc"), chance.choice([None, 1, 2, 3]), t) for t in arrival]
    places = sorted(chance.sample(range(1, row_count), file_count - 1))
    cuts = [rows[start:end] for start, end in zip([0, *places], [*places, row_count], strict=True)]
    return Input(rows, [*cuts, [_row("end", 0, 1_000_000)]])


def moment(t: float) -> str:
    """A second as JSON has it in results."""
    return (EPOCH + timedelta(seconds=t)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _row(k: str, v: int | None, t: int) -> Row:
    return {"k": k, "v": v, "t": t, "ts": moment(t)}
