"""Disks and clients that misbehave, for tests of the log.

`PowerLossStorage` writes real files and remembers what a power loss may take away: every write since the last
`fdatasync` of its file, every name since the last `fsync_directory` of its directory. `FaultyStorage` refuses.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import zstandard

from headrace.log.batch import pack_batch
from headrace.log.codec import CODECS, DECOMPRESSED_BYTES_MAX
from headrace.log.storage import Buffer, OsStorage, Storage

_REAL = OsStorage()
_PIECE = bytes(1 << 20)


def bomb(
    unpacked_bytes: int = DECOMPRESSED_BYTES_MAX + 1, *, record_count: int = 1, time_ms: int | None = None
) -> bytes:
    """A sound batch of a few kilobytes, as a client would send it, that unpacks to so many bytes or a little more."""
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    pieces = [stream.compress(_PIECE) for _ in range(unpacked_bytes // len(_PIECE) + 1)]
    time_ms = time.time_ns() // 1_000_000 if time_ms is None else time_ms
    return pack_batch(
        b"".join([*pieces, stream.flush()]),
        attributes=CODECS.index("zstd"),
        record_count=record_count,
        base_timestamp_ms=time_ms,
        max_timestamp_ms=time_ms,
    )


@dataclass(slots=True)
class _Inode:
    """A file or, with `names`, a directory: what is safe, and what has been done to it since."""

    safe_content: bytearray = field(default_factory=bytearray)
    unsafe_writes: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Position and bytes; without bytes, a truncation to the position."""
    names: dict[str, _Inode] | None = None
    safe_names: dict[str, _Inode] = field(default_factory=dict)
    unsafe_changes: list[dict[str, _Inode | None]] = field(default_factory=list)
    """Names that got another file, or none, together."""

    def change(self, names: dict[str, _Inode | None]) -> None:
        self.unsafe_changes.append(names)
        assert self.names is not None  # noqa: S101
        _apply(self.names, names)


def _apply(names: dict[str, _Inode], changes: dict[str, _Inode | None]) -> None:
    for name, inode in changes.items():
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


def _directory() -> _Inode:
    return _Inode(names={})


class PowerLossStorage:
    """Real files below `root`, and the knowledge of what would survive if the power went now.

    Each change is whole for other threads. Otherwise a write beside a sync would be neither safe nor unsafe, but gone.
    """

    def __init__(self, root: Path) -> None:
        """`root` exists; what it holds already is safe."""
        self._lock = threading.RLock()
        self._root_path = root
        self._open: dict[int, _Inode] = {}
        self._root = _safe_tree(root)

    def lose_power(self, target: Path, choice: Random) -> None:
        """Write into the new directory `target` one of the states that a power loss now could leave.

        Each unsynced write survives wholly, in part or not at all, whatever happened to those before it; each
        unsynced change of a name is there or not.
        """
        with self._lock:
            _materialise(self._root, target, choice)

    def open(self, path: Path, *, create: bool = False) -> int:
        with self._lock:
            descriptor = _REAL.open(path, create=create)
            parent = self._inode(path.parent)
            assert parent.names is not None  # noqa: S101
            if path.name not in parent.names:
                parent.change({path.name: _Inode()})
            self._open[descriptor] = parent.names[path.name]
            return descriptor

    def close(self, descriptor: int) -> None:
        with self._lock:
            self._open.pop(descriptor)
            _REAL.close(descriptor)

    def size(self, descriptor: int) -> int:
        return _REAL.size(descriptor)

    def modified_ms(self, path: Path) -> int:
        return _REAL.modified_ms(path)

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        return _REAL.pread(descriptor, length, position)

    def preadinto(self, descriptor: int, buffer: memoryview, position: int) -> int:
        return _REAL.preadinto(descriptor, buffer, position)

    def sendfile(self, descriptor: int, socket_descriptor: int, length: int, position: int) -> int:
        return _REAL.sendfile(descriptor, socket_descriptor, length, position)

    def pwritev(self, descriptor: int, buffers: Sequence[Buffer], position: int) -> None:
        with self._lock:
            _REAL.pwritev(descriptor, buffers, position)
            self._open[descriptor].unsafe_writes.append((position, b"".join(buffers)))

    def truncate(self, descriptor: int, size: int) -> None:
        with self._lock:
            _REAL.truncate(descriptor, size)
            self._open[descriptor].unsafe_writes.append((size, None))

    def fdatasync(self, descriptor: int) -> None:
        with self._lock:
            inode = self._open[descriptor]
            for position, content in inode.unsafe_writes:
                _replay_write(inode.safe_content, position, content)
            inode.unsafe_writes.clear()

    def fsync_directory(self, path: Path) -> None:
        with self._lock:
            if not path.is_relative_to(self._root_path):
                return  # Above the simulated disk everything is safe.
            inode = self._inode(path)
            assert inode.names is not None  # noqa: S101
            inode.safe_names = dict(inode.names)
            inode.unsafe_changes.clear()

    def rename(self, source: Path, target: Path) -> None:
        with self._lock:
            _REAL.rename(source, target)
            self._inode(source.parent).change({source.name: None, target.name: self._inode(source)})

    def unlink(self, path: Path) -> None:
        with self._lock:
            _REAL.unlink(path)
            self._inode(path.parent).change({path.name: None})

    def make_directory(self, path: Path) -> None:
        with self._lock:
            _REAL.make_directory(path)
            if path == self._root_path:
                return
            parent = self._inode(path.parent)
            assert parent.names is not None  # noqa: S101
            if path.name not in parent.names:
                parent.change({path.name: _directory()})

    def remove_directory(self, path: Path) -> None:
        with self._lock:
            _REAL.remove_directory(path)
            self._inode(path.parent).change({path.name: None})

    def list_directory(self, path: Path) -> list[str]:
        return _REAL.list_directory(path)

    def _inode(self, path: Path) -> _Inode:
        inode = self._root
        for name in path.relative_to(self._root_path).parts:
            assert inode.names is not None  # noqa: S101
            inode = inode.names[name]
        return inode


def _safe_tree(path: Path) -> _Inode:
    """The tree below a path, all of it safe."""
    if path.is_file():
        return _Inode(safe_content=bytearray(path.read_bytes()))
    inode = _directory()
    inode.safe_names = {name: _safe_tree(path / name) for name in os.listdir(path)}
    inode.names = dict(inode.safe_names)
    return inode


def _materialise(inode: _Inode, target: Path, choice: Random) -> None:
    if inode.names is None:
        target.write_bytes(_surviving_content(inode, choice))
        return
    names = dict(inode.safe_names)
    for changes in inode.unsafe_changes:
        if choice.random() < 0.5:
            _apply(names, changes)
    target.mkdir()
    for name, child in names.items():
        _materialise(child, target / name, choice)


def _surviving_content(inode: _Inode, choice: Random) -> bytes:
    content = bytearray(inode.safe_content)
    for position, written in inode.unsafe_writes:
        fate = choice.choice(("kept", "lost", "torn"))
        if fate == "kept" or (fate == "torn" and written is None):
            _replay_write(content, position, written)
        elif fate == "torn" and written:
            start = choice.randrange(len(written))
            end = choice.randrange(start, len(written) + 1)
            _replay_write(content, position + start, written[start:end])
    return bytes(content)


def _replay_write(content: bytearray, position: int, written: bytes | None) -> None:
    if len(content) < position:
        content.extend(bytes(position - len(content)))
    if written is None:
        del content[position:]
    else:
        content[position : position + len(written)] = written


@dataclass(slots=True)
class Fault:
    """Operations of a kind, on files whose name ends so, fail with an error number."""

    operation: str
    name_ends: str
    error_number: int
    written_bytes: int = 0
    """Of a write, before it fails."""


class FaultyStorage:
    """A disk that refuses what a fault in `faults` matches, and otherwise does what the disk behind it does."""

    def __init__(self, behind: Storage) -> None:
        self.faults: list[Fault] = []
        self._behind = behind
        self._paths: dict[int, Path] = {}

    def open(self, path: Path, *, create: bool = False) -> int:
        self._check("open", path)
        descriptor = self._behind.open(path, create=create)
        self._paths[descriptor] = path
        return descriptor

    def close(self, descriptor: int) -> None:
        self._paths.pop(descriptor)
        self._behind.close(descriptor)

    def size(self, descriptor: int) -> int:
        return self._behind.size(descriptor)

    def modified_ms(self, path: Path) -> int:
        return self._behind.modified_ms(path)

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        self._check("pread", self._paths[descriptor])
        return self._behind.pread(descriptor, length, position)

    def preadinto(self, descriptor: int, buffer: memoryview, position: int) -> int:
        self._check("pread", self._paths[descriptor])
        return self._behind.preadinto(descriptor, buffer, position)

    def sendfile(self, descriptor: int, socket_descriptor: int, length: int, position: int) -> int:
        self._check("sendfile", self._paths[descriptor])
        return self._behind.sendfile(descriptor, socket_descriptor, length, position)

    def pwritev(self, descriptor: int, buffers: Sequence[Buffer], position: int) -> None:
        fault = self._fault("pwritev", self._paths[descriptor])
        if fault is not None:
            self._behind.pwritev(descriptor, [b"".join(buffers)[: fault.written_bytes]], position)
            raise OSError(fault.error_number, os.strerror(fault.error_number))
        self._behind.pwritev(descriptor, buffers, position)

    def truncate(self, descriptor: int, size: int) -> None:
        self._check("truncate", self._paths[descriptor])
        self._behind.truncate(descriptor, size)

    def fdatasync(self, descriptor: int) -> None:
        self._check("fdatasync", self._paths[descriptor])
        self._behind.fdatasync(descriptor)

    def fsync_directory(self, path: Path) -> None:
        self._check("fsync_directory", path)
        self._behind.fsync_directory(path)

    def rename(self, source: Path, target: Path) -> None:
        self._check("rename", target)
        self._behind.rename(source, target)

    def unlink(self, path: Path) -> None:
        self._check("unlink", path)
        self._behind.unlink(path)

    def make_directory(self, path: Path) -> None:
        self._check("make_directory", path)
        self._behind.make_directory(path)

    def remove_directory(self, path: Path) -> None:
        self._check("remove_directory", path)
        self._behind.remove_directory(path)

    def list_directory(self, path: Path) -> list[str]:
        return self._behind.list_directory(path)

    def _fault(self, operation: str, path: Path) -> Fault | None:
        matches = (f for f in self.faults if f.operation == operation and str(path).endswith(f.name_ends))
        return next(matches, None)

    def _check(self, operation: str, path: Path) -> None:
        if (fault := self._fault(operation, path)) is not None:
            raise OSError(fault.error_number, os.strerror(fault.error_number))
