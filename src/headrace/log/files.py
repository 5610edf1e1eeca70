"""Files of the log that are open only while they are used: thousands of partitions with a few hundred descriptors.

One `FileCache` belongs to a store. It closes the file that was not used for longest when too many are open; the file
opens again by its name. So the name must stay that file's as long as a `LazyFile` of it is used. Not for other threads:
they are given an `OpenFile` (`LazyFile.opened`), whose descriptor stays valid as long as they hold it.
"""

from __future__ import annotations

import resource
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from weakref import ref

from headrace.log.storage import Buffer, OpenFile, Storage

OPEN_FILES_SHARE = 3
"""One of so many descriptors of the process is for the log; the rest is for connections and what they read."""

OPEN_FILES_MIN = 16


def open_files_max() -> int:
    """How many files a store keeps open: its share of the process's limit (RLIMIT_NOFILE)."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(OPEN_FILES_MIN, soft // OPEN_FILES_SHARE) if soft != resource.RLIM_INFINITY else 1 << 20


def raise_descriptor_limit() -> int:
    """Called once, when the process starts: as many descriptors as the system allows, which are returned."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class FileCache:
    """The files that are open now. One that was used since the last look is spared once."""

    def __init__(self, limit: int) -> None:
        self.limit = max(limit, OPEN_FILES_MIN)
        self._open: OrderedDict[int, ref[LazyFile]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, file: LazyFile) -> None:
        """A file was opened. Raises nothing: what closing another one costs is told to whoever uses that one."""
        self._open[id(file)] = ref(file)
        while len(self._open) > self.limit:
            key, reference = self._open.popitem(last=False)
            other = reference()
            if other is None:
                continue
            if other.was_used:
                other.was_used = False
                self._open[key] = reference
            else:
                other.close()

    def close(self) -> None:
        """Close them all; one that is used again opens again."""
        while self._open:
            _, reference = self._open.popitem()
            if (file := reference()) is not None:
                file.close()

    def forget(self, file: LazyFile) -> None:
        self._open.pop(id(file), None)


class LazyFile:
    """As `OpenFile`, opened when it is used. A file that must be durable is synced before the cache closes it."""

    __slots__ = (
        "__weakref__",
        "_cache",
        "_is_durable",
        "_lost",
        "_opened",
        "_storage",
        "_unsynced",
        "path",
        "was_used",
    )

    def __init__(
        self, storage: Storage, path: Path, cache: FileCache, *, create: bool = False, is_durable: bool = False
    ) -> None:
        """Opens it the first time. Raises OSError."""
        self.path = path
        self.was_used = True
        self._storage = storage
        self._cache = cache
        self._is_durable = is_durable
        self._unsynced = False
        self._lost: OSError | None = None
        self._opened: OpenFile | None = OpenFile.open(storage, path, create=create)
        cache.admit(self)

    def __del__(self) -> None:
        self._cache.forget(self)

    def opened(self) -> OpenFile:
        """The open file, to be held where it must stay open. Raises OSError."""
        self.was_used = True
        if self._opened is None:
            self._opened = OpenFile.open(self._storage, self.path)
            self._cache.admit(self)
        return self._opened

    def close(self) -> None:
        """Called by the cache. A sync that fails is told by the next one: the bytes may be lost."""
        if self._unsynced and self._opened is not None:
            try:
                self._opened.sync()
            except OSError as error:
                self._lost = error
        self._unsynced = False
        self._opened = None

    def to_sync(self) -> OpenFile:
        """The open file for one who syncs what was written so far, in any thread. Raises OSError when that is lost."""
        if self._lost is not None:
            raise self._lost
        self._unsynced = False
        return self.opened()

    def size(self) -> int:
        return self.opened().size()

    def read(self, length: int, position: int) -> bytes:
        return self.opened().read(length, position)

    def read_into(self, buffer: memoryview, position: int) -> int:
        return self.opened().read_into(buffer, position)

    def write(self, buffers: Sequence[Buffer], position: int) -> None:
        file = self.opened()
        self._unsynced = self._is_durable
        file.write(buffers, position)

    def truncate(self, size: int) -> None:
        file = self.opened()
        self._unsynced = self._is_durable
        file.truncate(size)

    def sync(self) -> None:
        self.to_sync().sync()
