"""The one door between the log and the disk.

Everything that the log makes durable passes through `Storage`, so that a test can put a disk behind it that is
full, failing, or forgets at a power loss whatever was not synced (`headrace.log.testing`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

IO_VECTOR_MAX = 1024
"""Buffers that Linux takes in one pwritev."""

Buffer = bytes | bytearray | memoryview


class Storage(Protocol):
    """What the log asks of a disk. Every method raises OSError when the disk refuses."""

    def open(self, path: Path, *, create: bool = False) -> int:
        """Open for reading and writing; with `create` also a new file, whose name lasts after `fsync_directory`."""
        ...

    def close(self, descriptor: int) -> None: ...

    def size(self, descriptor: int) -> int: ...

    def modified_ms(self, path: Path) -> int:
        """When the file was last written, in milliseconds since 1970."""
        ...

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        """Up to `length` bytes; fewer only at the end of the file."""
        ...

    def preadinto(self, descriptor: int, buffer: memoryview, position: int) -> int:
        """Fill the buffer; how many bytes were read. Fewer than it holds only at the end of the file."""
        ...

    def sendfile(self, descriptor: int, socket_descriptor: int, length: int, position: int) -> int:
        """Send up to `length` bytes without bringing them into memory; how many were, 0 only at the end of the file.

        Raises BlockingIOError when the socket takes none now.
        """
        ...

    def pwritev(self, descriptor: int, buffers: Sequence[Buffer], position: int) -> None:
        """Write all buffers one after the other. After an error any part of them may have been written."""
        ...

    def truncate(self, descriptor: int, size: int) -> None: ...

    def fdatasync(self, descriptor: int) -> None:
        """Afterwards everything written to the file so far, and its size, survives power loss. Safe in any thread."""
        ...

    def fsync_directory(self, path: Path) -> None:
        """Afterwards names created, renamed and removed in the directory survive power loss."""
        ...

    def rename(self, source: Path, target: Path) -> None:
        """Replace `target` in one step."""
        ...

    def unlink(self, path: Path) -> None: ...

    def make_directory(self, path: Path) -> None:
        """Create the directory unless it is there."""
        ...

    def remove_directory(self, path: Path) -> None: ...

    def list_directory(self, path: Path) -> list[str]:
        """Names in the directory, sorted; none when there is no such directory."""
        ...


class OsStorage:
    """The operating system's files."""

    def open(self, path: Path, *, create: bool = False) -> int:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def size(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    def modified_ms(self, path: Path) -> int:
        return path.stat().st_mtime_ns // 1_000_000

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        return os.pread(descriptor, length, position)

    def preadinto(self, descriptor: int, buffer: memoryview, position: int) -> int:
        filled = 0
        while filled < len(buffer):
            read = os.preadv(descriptor, [buffer[filled:]], position + filled)
            if not read:
                break
            filled += read
        return filled

    def sendfile(self, descriptor: int, socket_descriptor: int, length: int, position: int) -> int:
        return os.sendfile(socket_descriptor, descriptor, position, length)

    def pwritev(self, descriptor: int, buffers: Sequence[Buffer], position: int) -> None:
        pending, left_bytes = buffers, sum(map(len, buffers))
        while left_bytes:
            written = os.pwritev(descriptor, pending[:IO_VECTOR_MAX], position)
            position += written
            left_bytes -= written
            pending = _after(pending, written) if left_bytes else ()

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def fdatasync(self, descriptor: int) -> None:
        os.fdatasync(descriptor)

    def fsync_directory(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def make_directory(self, path: Path) -> None:
        os.makedirs(path, exist_ok=True)

    def remove_directory(self, path: Path) -> None:
        os.rmdir(path)

    def list_directory(self, path: Path) -> list[str]:
        return sorted(os.listdir(path)) if path.is_dir() else []


def _after(buffers: Sequence[Buffer], written_bytes: int) -> Sequence[Buffer]:
    """What is left of the buffers once their first bytes are written."""
    for index, buffer in enumerate(buffers):
        if written_bytes < len(buffer):
            return [memoryview(buffer)[written_bytes:], *buffers[index + 1 :]]
        written_bytes -= len(buffer)
    return []


class OpenFile:
    """An open file. Its descriptor is closed when nobody refers to it any more.

    So a slice that is being sent, or a sync in another thread, keeps the descriptor valid even when retention
    removes the segment meanwhile.
    """

    __slots__ = ("_storage", "descriptor", "path")

    def __init__(self, storage: Storage, path: Path, descriptor: int) -> None:
        self._storage = storage
        self.path = path
        self.descriptor = descriptor

    @classmethod
    def open(cls, storage: Storage, path: Path, *, create: bool = False) -> OpenFile:
        return cls(storage, path, storage.open(path, create=create))

    def __del__(self) -> None:
        self._storage.close(self.descriptor)

    def size(self) -> int:
        return self._storage.size(self.descriptor)

    def read(self, length: int, position: int) -> bytes:
        return self._storage.pread(self.descriptor, length, position)

    def read_into(self, buffer: memoryview, position: int) -> int:
        return self._storage.preadinto(self.descriptor, buffer, position)

    def send(self, socket_descriptor: int, length: int, position: int) -> int:
        return self._storage.sendfile(self.descriptor, socket_descriptor, length, position)

    def write(self, buffers: Sequence[Buffer], position: int) -> None:
        self._storage.pwritev(self.descriptor, buffers, position)

    def truncate(self, size: int) -> None:
        self._storage.truncate(self.descriptor, size)

    def sync(self) -> None:
        self._storage.fdatasync(self.descriptor)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that are still in their file. The descriptor stays valid as long as the span is held. No bytes, no file."""

    file: OpenFile | None = None
    position: int = 0
    length: int = 0

    def __len__(self) -> int:
        return self.length

    def content(self, length_max: int | None = None) -> bytes:
        """The bytes, or the first of them, read into memory. Raises OSError."""
        length = self.length if length_max is None else min(self.length, length_max)
        return b"" if self.file is None else self.file.read(length, self.position)

    def send(self, socket_descriptor: int, length_max: int) -> int:
        """As `Storage.sendfile`."""
        length = min(self.length, length_max)
        return 0 if self.file is None else self.file.send(socket_descriptor, length, self.position)

    @property
    def name(self) -> str:
        return "" if self.file is None else self.file.path.name

    def after(self, length: int) -> Span:
        """What is left once the first bytes are gone."""
        return Span(self.file, self.position + length, self.length - length)


def read_whole(storage: Storage, path: Path) -> bytes | None:
    """The file's bytes, or None when there is no such file."""
    try:
        file = OpenFile.open(storage, path)
    except FileNotFoundError:
        return None
    return file.read(file.size(), 0)


def replace_atomically(storage: Storage, path: Path, content: bytes) -> None:
    """Write a small file so that, whatever happens, the old or the new content is there. Durable afterwards."""
    temporary = path.with_name(path.name + ".tmp")
    file = OpenFile.open(storage, temporary, create=True)
    file.truncate(0)
    file.write([content], 0)
    file.sync()
    storage.rename(temporary, path)
    storage.fsync_directory(path.parent)
