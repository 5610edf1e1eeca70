"""What a backup consists of: one manifest for each moment, over objects that many moments share.

manifests/<time in ms>.json     the moment
log/…                           pieces of segments, never changed
files/<digest>                  other files, by their content
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from headrace.errors import CorruptData, InvalidInput, NotFound
from headrace.log.objects import ObjectStore

# 2: members of groups are among what is kept, which an older broker cannot read.
MANIFEST_VERSION = 2
MANIFESTS = "manifests/"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a segment from a position on, in an object of their own."""

    key: str
    position: int
    length: int
    crc: int


@dataclass(frozen=True, slots=True)
class SegmentCopy:
    """A segment up to the moment, and the index of its aborted transactions if it has one."""

    base_offset: int
    pieces: tuple[Piece, ...]
    identity: tuple[int, int, int]
    """Of the file: inode, size, time of its last change. The same again means that nothing has to be read."""
    aborted_hex: str

    @property
    def size_bytes(self) -> int:
        return self.pieces[-1].position + self.pieces[-1].length if self.pieces else 0


@dataclass(frozen=True, slots=True)
class PartitionCopy:
    topic: str
    index: int
    log_start_offset: int
    end_offset: int
    segments: tuple[SegmentCopy, ...]


@dataclass(frozen=True, slots=True)
class FileCopy:
    """Any other file of the data directory, by its path in it."""

    path: str
    key: str


@dataclass(frozen=True, slots=True)
class Manifest:
    time_ms: int
    topics: tuple[dict[str, Any], ...]
    partitions: tuple[PartitionCopy, ...]
    files: tuple[FileCopy, ...]

    def save(self, objects: ObjectStore) -> None:
        """Written last: without it nothing of this moment exists."""
        content = json.dumps({"version": MANIFEST_VERSION, **asdict(self)}).encode()
        objects.put(f"{MANIFESTS}{self.time_ms:020d}.json", content)

    @classmethod
    def load(cls, objects: ObjectStore, key: str) -> Manifest:
        """Raises CorruptData, and InvalidInput for one of a newer version."""
        content = _decoded(objects.get(key), f"{objects.name}/{key}")
        if content.pop("version") > MANIFEST_VERSION:
            raise InvalidInput(f"{objects.name}/{key} was written by a newer Headrace", hint="use that one to restore")
        try:
            return cls(
                int(content["time_ms"]),
                tuple(content["topics"]),
                tuple(_partition(entry) for entry in content["partitions"]),
                tuple(FileCopy(**entry) for entry in content["files"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptData(f"{objects.name}/{key} is no manifest: {error}") from error


def _decoded(content: bytes, place: str) -> dict[str, Any]:
    try:
        decoded = json.loads(content)
    except ValueError as error:
        raise CorruptData(f"{place} is no manifest: {error}") from error
    if not isinstance(decoded, dict) or not isinstance(decoded.get("version"), int):
        raise CorruptData(f"{place} is no manifest")
    return decoded


def _partition(entry: dict[str, Any]) -> PartitionCopy:
    return PartitionCopy(**{**entry, "segments": tuple(_segment(segment) for segment in entry["segments"])})


def _segment(entry: dict[str, Any]) -> SegmentCopy:
    pieces = tuple(Piece(**piece) for piece in entry["pieces"])
    inode, size, changed_ns = entry["identity"]
    return SegmentCopy(**{**entry, "pieces": pieces, "identity": (inode, size, changed_ns)})


def newest_before(objects: ObjectStore, time_ms: int | None = None) -> Manifest | None:
    """The newest moment, or the newest that is not after a time."""
    moments = [moment for moment in moments_of(objects) if time_ms is None or moment <= time_ms]
    return Manifest.load(objects, f"{MANIFESTS}{moments[-1]:020d}.json") if moments else None


def moments_of(objects: ObjectStore) -> list[int]:
    """Times in ms of all moments that can be restored, oldest first."""
    names = (key.removeprefix(MANIFESTS).removesuffix(".json") for key in objects.list(MANIFESTS))
    return sorted(int(name) for name in names if name.isdigit())


def required(objects: ObjectStore, time_ms: int | None) -> Manifest:
    """As `newest_before`. Raises NotFound when there is none."""
    manifest = newest_before(objects, time_ms)
    if manifest is None:
        moments = moments_of(objects)
        hint = f"the oldest moment is {moments[0]} ms since 1970" if moments else None
        raise NotFound(f"{objects.name} holds no backup" + (" of that time or before" if moments else ""), hint=hint)
    return manifest
