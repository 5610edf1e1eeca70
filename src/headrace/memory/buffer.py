"""A buffer: bytes where they lie, what they are, and who else sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from headrace.errors import InvalidInput
from headrace.memory.formats import BYTES, Format
from headrace.memory.mapped import MappedFile
from headrace.memory.metadata import Metadata
from headrace.memory.segment import Segment
from headrace.memory.source import Foreign, Place, Source

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from headrace.memory.pool import Pool

T = TypeVar("T")
U = TypeVar("U")

_NOTHING = Metadata()


class Buffer(Generic[T]):
    """A handle on bytes that others may share. `T` is the type of its view.

    Clones and slices see the same memory and cost the same, however long it is. The memory is kept while a buffer or a
    view of it lives. Bytes change by `edit` alone, and that is refused while anybody else can see them: `writable` is
    the one place where bytes are copied, and the pool counts it.
    """

    __slots__ = ("_is_checked", "_length", "_offset", "_source", "format", "metadata")

    def __init__(
        self, source: Source, offset: int, length: int, format_: Format[T], metadata: Metadata = _NOTHING
    ) -> None:
        """Use `Pool.loan` or `Buffer.over`. Raises InvalidInput if the length does not fit the format."""
        format_.check(length)
        self._source = source
        self._offset = offset
        self._length = length
        self._is_checked = False
        self.format = format_
        self.metadata = metadata

    @classmethod
    def over(cls, memory: Any, format_: Format[U] | None = None, metadata: Metadata = _NOTHING) -> Buffer[U]:
        """Memory of somebody else as it is: bytes, arrays, a segment, a mapped file. Nobody writes to it through here;
        that its owner does not write either, is the owner's word."""
        whole = _whole(memory.view if isinstance(memory, Segment | MappedFile) else memory)
        chosen = cast("Format[U]", BYTES if format_ is None else format_)
        return Buffer(Foreign(whole), 0, len(whole), chosen, metadata)

    @property
    def nbytes(self) -> int:
        return self._length

    def __len__(self) -> int:
        return self._length

    @property
    def pool(self) -> Pool | None:
        """Where its memory is from; None for memory of somebody else."""
        return self._source.pool

    @property
    def is_shared(self) -> bool:
        """True if a clone, a slice or a view for reading lives, or the memory is somebody else's."""
        return self._source.is_shared

    def clone(self) -> Buffer[T]:
        """The same bytes for one holder more."""
        return self._like(self._offset, self._length, self.format, is_checked=self._is_checked)

    def slice(self, start: int, length: int) -> Buffer[memoryview]:
        """Some of the bytes, in the same memory. Raises InvalidInput if they are not all there."""
        if start < 0 or length < 0 or start + length > self._length:
            raise InvalidInput(f"bytes {start:,} to {start + length:,} of a buffer with {self._length:,}")
        return self._like(self._offset + start, length, BYTES)

    def as_format(self, format_: Format[U]) -> Buffer[U]:
        """The same bytes as something else, for one holder more. Raises InvalidInput if the length does not fit."""
        format_.check(self._length)
        return self._like(self._offset, self._length, format_)

    def with_metadata(self, **changes: Any) -> Buffer[T]:
        """The same bytes with other metadata, for one holder more."""
        made = self.clone()
        made.metadata = replace(self.metadata, **changes)
        return made

    def view(self) -> T:
        """For reading. The content is checked at the first view, where the format asks for that: CorruptData."""
        memory = self.memory()
        if not self._is_checked:
            self.format.check_content(memory)
            self._is_checked = True
        return self.format.view(memory)

    def memory(self) -> memoryview:
        """The bytes, for reading, whatever the format."""
        return memoryview(self.arrow()).cast("B")

    def arrow(self) -> pa.Buffer:
        """The bytes as Arrow's buffer, for reading."""
        return self._source.reading(self._offset, self._length)

    def __buffer__(self, flags: int) -> memoryview:
        """Python 3.12 and later: memoryview(buffer), numpy.frombuffer(buffer)."""
        return self.memory()

    def place(self) -> Place:
        """Where another process finds the bytes, for those who hand them over themselves. Keep the buffer until that
        process is done. Raises InvalidInput if they are not in shared memory."""
        return self._source.place(self._offset, self._length)

    def tobytes(self) -> bytes:
        """A copy for those who need one; not counted."""
        return self.memory().tobytes()

    def edit(self) -> T:
        """A view for writing. Raises InvalidInput while others see the bytes. Drop it before you hand the buffer on."""
        self._is_checked = False
        return self.format.view(self._source.writing(self._offset, self._length))

    def writable(self, into: Pool | None = None, *, timeout_s: float = 0.0) -> Buffer[T]:
        """A buffer that can be edited: this one if nobody else sees it, else a copy in a slot of `into`.

        Its own pool is the default; memory of somebody else has none. Raises LimitReached.
        """
        if not self.is_shared:
            return self
        pool = self.pool if into is None else into
        if pool is None:
            raise InvalidInput("this buffer is not of a pool", hint="say where the copy goes: writable(pool)")
        return pool.copy(self.memory(), self.format, self.metadata, timeout_s=timeout_s)

    def release(self) -> None:
        """Ends this handle; clones and views live on. Without it the handle ends when nobody refers to it."""
        self._source.release()

    def __enter__(self) -> Buffer[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __reduce__(self) -> NoReturn:
        raise InvalidInput("a buffer cannot be pickled", hint="send tobytes(), which is a copy")

    def __repr__(self) -> str:
        return f"<Buffer {self.format}, {self._length:,} bytes, sequence {self.metadata.sequence}>"

    def _like(self, offset: int, length: int, format_: Format[U], *, is_checked: bool = False) -> Buffer[U]:
        made = Buffer(self._source.again(), offset, length, format_, self.metadata)
        made._is_checked = is_checked
        return made


def _whole(memory: Any) -> memoryview:
    try:
        view = memoryview(memory).toreadonly()
        if not view.nbytes:
            return memoryview(b"")
        return view.cast("B")
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"no memory in one piece: {error}", hint="copy it first: bytes(…), numpy.ascontiguousarray(…)"
        ) from None
