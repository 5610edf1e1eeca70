"""The queries of a pipeline by name: what each name means, and where it began. Kept in a file beside their state.

A query keeps its name for as long as its state and offsets are used. One that begins anew gets another name, so that
nothing of the old one is overwritten: not its commits, not its state, not the files that it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from headrace.errors import CorruptData
from headrace.process import write_atomically
from headrace.spark.planning.meaning import Meaning
from headrace.spark.specs import Offsets
from headrace.spark.writing.commit import CommitRecord

LEDGER_FORMAT: Final = 1
_FILE: Final = "queries.json"
# Where batch runs keep their files: no query.
_BATCH: Final = "batch"


@dataclass(frozen=True, slots=True)
class Entry:
    """One query. `starts` is by source node, for those that are topics: where it begins as long as it has no commit."""

    name: str
    meaning: Meaning
    starts: Mapping[str, Offsets] = field(default_factory=dict)
    released: Mapping[str, Offsets] = field(default_factory=dict)
    """Up to there, a signal that stopped the pipeline before does not stop it again."""
    was: Meaning | None = None
    """What it meant to the version before, until a commit says what it means now."""

    def meant_by(self, record: CommitRecord | None) -> Meaning | None:
        """What a commit record of the query belongs to; None where that is not known."""
        if record is None:
            return self.meaning
        known = [meaning for meaning in (self.meaning, self.was) if meaning and meaning.identity == record.identity]
        exact = [meaning for meaning in known if meaning.topics.keys() == record.starts.keys()]
        return next(iter((*exact, *known)), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "meaning": self.meaning.to_json(),
            "starts": {node: dict(offsets) for node, offsets in self.starts.items()},
            "released": {node: dict(offsets) for node, offsets in self.released.items()},
            "was": None if self.was is None else self.was.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Entry:
        was = None if value["was"] is None else Meaning.from_json(value["was"])
        return cls(value["name"], Meaning.from_json(value["meaning"]), value["starts"], value["released"], was)


@dataclass(frozen=True, slots=True)
class Ledger:
    """`current` are the queries of the version that was started last, `former` those that it took the place of.

    `fresh` are names in `current` that began anew then; `numbers` counts, for each base node, the names of its queries.
    """

    current: tuple[Entry, ...] = ()
    former: tuple[Entry, ...] = ()
    fresh: frozenset[str] = frozenset()
    numbers: Mapping[str, int] = field(default_factory=dict)

    def named(self, base: str, taken: Collection[str], unused: Collection[str]) -> tuple[str, Ledger]:
        """A name after the base node that no query of this pipeline has committed under.

        `taken` are names that something is kept under, `unused` those that were given and never committed under.
        """
        number = self.numbers.get(base, 0)
        if _name(base, number) not in unused:
            number += 1
        while _name(base, number) in taken:
            number += 1
        return _name(base, number), replace(self, numbers={**self.numbers, base: number})

    def started(self, entries: Iterable[Entry], fresh: Collection[str], committed: Collection[str]) -> Ledger:
        """With these as the queries that run. Of those they take the place of, the ones with commits are kept until the
        next change."""
        current = tuple(entries)
        names = {entry.name for entry in current}
        left = tuple(entry for entry in (*self.current, *self.former) if entry.name not in names)
        former = tuple(entry for entry in left if entry.name in committed)
        kept = former or tuple(entry for entry in left if entry in self.former)
        return replace(self, current=current, former=kept, fresh=frozenset(fresh) or self.fresh & names)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(entry.name for entry in (*self.current, *self.former))


def read_ledger(jobs_directory: Path, pipeline: str) -> Ledger | None:
    """None for a pipeline that was last started before there were ledgers, or never. Raises CorruptData."""
    path = jobs_directory / pipeline / _FILE
    try:
        content = json.loads(path.read_text())
        if content["format"] != LEDGER_FORMAT:
            raise CorruptData(f"{path} has format {content['format']}; this version reads {LEDGER_FORMAT}")
        current, former = (tuple(map(Entry.from_json, content[part])) for part in ("current", "former"))
        return Ledger(current, former, frozenset(content["fresh"]), content["numbers"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "remove it: its queries are then found by the names of their folders"
        raise CorruptData(f"{path} cannot be read: {error!r}", hint=hint) from error


def write_ledger(jobs_directory: Path, pipeline: str, ledger: Ledger) -> None:
    """On disk when this returns. Raises DiskFailure."""
    content = {
        "format": LEDGER_FORMAT,
        "current": [entry.to_json() for entry in ledger.current],
        "former": [entry.to_json() for entry in ledger.former],
        "fresh": sorted(ledger.fresh),
        "numbers": dict(ledger.numbers),
    }
    directory = jobs_directory / pipeline
    directory.mkdir(parents=True, exist_ok=True)
    write_atomically(directory / _FILE, json.dumps(content, sort_keys=True) + "\n")


def folders(jobs_directory: Path, pipeline: str) -> list[str]:
    """Names of queries that ever kept something on this machine."""
    found = (jobs_directory / pipeline).glob("*/")
    return sorted(path.name for path in found if path.name != _BATCH)


def _name(base: str, number: int) -> str:
    return base if number == 1 else f"{base}.{number}"
