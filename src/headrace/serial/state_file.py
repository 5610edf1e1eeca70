"""The layout of a state file: a header that says what is where, then Arrow streams, each with its checksum."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from io import RawIOBase
from typing import Any

import google_crc32c
import pyarrow as pa

from headrace.errors import CorruptData

MAGIC = b"HRSTATE3"
_LENGTH = struct.Struct("<I")
# Arrow reads its buffers fastest from aligned addresses.
_ALIGNMENT = 64


# How a section stands to what was stored under its name before: beside it, instead of it, or behind such a one.
PLAIN, FIRST, MORE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Section:
    """What changed of one state, or, with `buckets`, all that it has in those.

    `restated` marks what an older file said of a state that nobody asked for, said again.
    """

    name: str
    kind: str
    rows: pa.Table
    buckets: range | None = None
    shape: dict[str, int] = field(default_factory=dict)
    restated: int = PLAIN

    @property
    def size(self) -> int:
        """How many values there are, about: a list is as many as it holds."""
        chunks = [chunk for column in self.rows.columns for chunk in column.chunks]
        listed = [len(chunk.flatten()) for chunk in chunks if isinstance(chunk, pa.LargeListArray)]
        return max(self.rows.num_rows, sum(listed))

    def header(self) -> dict[str, object]:
        buckets = None if self.buckets is None else [self.buckets.start, self.buckets.stop]
        named = {"name": self.name, "kind": self.kind, "shape": self.shape}
        return {**named, "buckets": buckets, "restated": self.restated}


def encode(sections: Iterable[Section]) -> list[bytes | pa.Buffer]:
    """The parts of a file, in order. Columns are among them as they are in memory, and must not be written to until the
    file is."""
    bodies: list[bytes | pa.Buffer] = []
    listed: list[dict[str, object]] = []
    position = 0
    for section in sections:
        parts = _stream(section.rows)
        size = sum(map(len, parts))
        padding = -size % _ALIGNMENT
        crc = reduce(google_crc32c.extend, parts, 0)
        listed.append({**section.header(), "at": position, "bytes": size, "crc32c": crc})
        bodies += [*parts, bytes(padding)]
        position += size + padding
    header = json.dumps(listed).encode()
    head = MAGIC + _LENGTH.pack(len(header)) + _LENGTH.pack(google_crc32c.value(header)) + header
    return [head + bytes(-len(head) % _ALIGNMENT), *bodies]


def decode(name: str, content: pa.Buffer, *, changes_only: bool = False) -> Iterator[Section]:
    """Sections without a copy of their columns; all, or those that are changes: others are not even looked at. Raises
    CorruptData for a file that is not as it was written."""
    start = len(MAGIC) + 2 * _LENGTH.size
    if content.size < start or content[: len(MAGIC)].to_pybytes() != MAGIC:
        raise CorruptData(f"{name} is no state file of this format")
    length, crc = struct.unpack("<II", content[len(MAGIC) : start].to_pybytes())
    header = content[start : start + length].to_pybytes()
    if google_crc32c.value(header) != crc:
        raise CorruptData(f"the header of the state file {name} does not match its checksum")
    first = start + length + -(start + length) % _ALIGNMENT
    for entry in json.loads(header):
        if changes_only and not _is_change(entry):
            continue
        body = content[first + entry["at"] : first + entry["at"] + entry["bytes"]]
        if google_crc32c.value(body) != entry["crc32c"]:
            raise CorruptData(f"the state {entry['name']!r} in {name} does not match its checksum")
        buckets = None if entry["buckets"] is None else range(*entry["buckets"])
        rows = pa.ipc.open_stream(body).read_all()
        yield Section(entry["name"], entry["kind"], rows, buckets, entry["shape"], entry["restated"])


def _is_change(entry: dict[str, object]) -> bool:
    return entry["buckets"] is None and entry["restated"] == PLAIN


class _Parts(RawIOBase):
    """Keeps what is written to it: Arrow hands its buffers over without a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes | pa.Buffer] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self.parts.append(part)
        return len(part)


def _stream(rows: pa.Table) -> list[bytes | pa.Buffer]:
    sink = _Parts()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write_batch(batch)
    return sink.parts
