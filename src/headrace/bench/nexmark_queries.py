"""Nexmark's queries, one file each: in our SQL over streams, and where needed as SQL over all rows at once.

Comments in a file: `@reads` the streams, unless it is only bid; `@keys` of rows that are alike in these columns the
last counts; `@windowed` rows come when windows close; `@without` the peers that have no plan for it; `@reference` what
is right, where it is no batch query; `@flink` the same for Flink, where it differs from that.

Some differ from the original, so that results can be compared: q12 goes by event time, and rows that rank equal in
q6, q9, q18 and q19 are told apart by further columns. Joins without a bound name a retention that no row outlives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from headrace.bench.nexmark_events import STREAMS, Stream

NAMES: Final = tuple(f"q{number}" for number in range(24))
_REFERENCE: Final = "-- @reference\n"
_FLINK: Final = "-- @flink\n"


@dataclass(frozen=True, slots=True)
class Query:
    """`is_windowed`: the closing rows are in windows that stay open, so what is right has none of them."""

    name: str
    sql: str
    reference: str
    flink: str
    reads: tuple[Stream, ...]
    keys: tuple[str, ...]
    is_windowed: bool
    without: tuple[str, ...]

    @property
    def is_changing(self) -> bool:
        """Whether later rows take the place of earlier ones."""
        return bool(self.keys)


def find_query(name: str) -> Query:
    return parse_query(name, files("headrace.bench").joinpath("nexmark_sql", f"{name}.sql").read_text())


def parse_query(name: str, text: str) -> Query:
    text, _, flink = text.partition(_FLINK)
    sql, _, reference = text.partition(_REFERENCE)
    right = _statement(reference or sql).removesuffix("EMIT CHANGES")
    reads = _listed(sql, "reads") or ("bid",)
    return Query(
        name,
        _statement(sql),
        right,
        _statement(flink) or right,
        tuple(stream for stream in STREAMS if stream in reads),
        _listed(sql, "keys"),
        "-- @windowed\n" in sql,
        _listed(sql, "without"),
    )


def _statement(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith("-- @"))
    return "\n".join(lines).strip().removesuffix(";")


def _listed(text: str, word: str) -> tuple[str, ...]:
    found = re.search(rf"^-- @{word} (.+)$", text, re.MULTILINE)
    return () if found is None else tuple(name.strip() for name in found[1].split(","))
