"""The layout of a state file: a header that says what is where, then Arrow streams, each with its checksum."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import google_crc32c
import pyarrow as pa

from headrace.errors import CorruptData

MAGIC = b"HRSTATE1"
_LENGTH = struct.Struct("<I")
# Arrow reads its buffers fastest from aligned addresses.
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Section:
    """One state's content, or what changed of it."""

    name: str
    kind: str
    whole: bool
    rows: pa.Table


def encode(sections: Iterable[Section]) -> list[bytes | pa.Buffer]:
    """The parts of a file, in order."""
    bodies: list[bytes | pa.Buffer] = []
    listed: list[dict[str, object]] = []
    position = 0
    for section in sections:
        body = _stream(section.rows)
        padding = -body.size % _ALIGNMENT
        crc = google_crc32c.value(body)
        listed.append(
            {
                "name": section.name,
                "kind": section.kind,
                "whole": section.whole,
                "at": position,
                "bytes": body.size,
                "crc32c": crc,
            }
        )
        bodies += [body, bytes(padding)]
        position += body.size + padding
    header = json.dumps(listed).encode()
    head = MAGIC + _LENGTH.pack(len(header)) + _LENGTH.pack(google_crc32c.value(header)) + header
    return [head + bytes(-len(head) % _ALIGNMENT), *bodies]


def decode(name: str, content: pa.Buffer) -> Iterator[Section]:
    """Sections without a copy of their columns. Raises CorruptData for a file that is not as it was written."""
    start = len(MAGIC) + 2 * _LENGTH.size
    if content.size < start or content[: len(MAGIC)].to_pybytes() != MAGIC:
        raise CorruptData(f"{name} is no state file of this format")
    length, crc = struct.unpack("<II", content[len(MAGIC) : start].to_pybytes())
    header = content[start : start + length].to_pybytes()
    if google_crc32c.value(header) != crc:
        raise CorruptData(f"the header of the state file {name} does not match its checksum")
    first = start + length + -(start + length) % _ALIGNMENT
    for entry in json.loads(header):
        body = content[first + entry["at"] : first + entry["at"] + entry["bytes"]]
        if google_crc32c.value(body) != entry["crc32c"]:
            raise CorruptData(f"the state {entry['name']!r} in {name} does not match its checksum")
        yield Section(entry["name"], entry["kind"], entry["whole"], pa.ipc.open_stream(body).read_all())


def _stream(rows: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write_batch(batch)
    return sink.getvalue()
