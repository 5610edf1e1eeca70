"""Buffers: one memory, many holders, and the one place where bytes are copied."""

from __future__ import annotations

import array
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace.errors import CorruptData, InvalidInput
from headrace.memory import ARROW, BYTES, Array, Buffer, Closed, Flags, Format, ImageFormat, Metadata, Pool, Segment


def filled(pool: Pool, content: bytes) -> Buffer[memoryview]:
    loan = pool.loan(len(content))
    loan.edit()[:] = content
    return loan


def address(buffer: Buffer[memoryview]) -> int:
    return buffer.arrow().address


def test_clones_and_slices_see_the_same_memory() -> None:
    loan = filled(Pool(4096), b"abcdef")
    clone, part = loan.clone(), loan.slice(2, 3)
    assert address(clone) == address(loan)
    assert address(part) == address(loan) + 2
    assert (part.tobytes(), part.slice(1, 2).tobytes(), part.slice(3, 0).tobytes()) == (b"cde", b"de", b"")
    assert loan.pool is not None
    assert loan.pool.stats.copies == 0


def test_a_slice_beyond_the_end_is_refused() -> None:
    part = filled(Pool(4096), b"abcdef").slice(2, 3)
    for start, length in [(0, 4), (3, 1), (-1, 2), (1, -1)]:
        with pytest.raises(InvalidInput, match="of a buffer with 3"):
            part.slice(start, length)


def test_the_views_are_of_one_memory_and_for_reading() -> None:
    loan = filled(Pool(4096), b"abcdef")
    numbers = np.frombuffer(loan.memory(), np.uint8)
    assert numbers.ctypes.data == loan.arrow().address
    assert bytes(loan.memory()) == b"abcdef" == loan.arrow().to_pybytes() == numbers.tobytes()
    assert loan.memory().readonly
    assert not numbers.flags.writeable
    assert not loan.arrow().is_mutable


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks classes for their memory since 3.12")
def test_a_buffer_is_memory_for_python() -> None:
    assert bytes(memoryview(filled(Pool(4096), b"abc"))) == b"abc"


def test_only_what_others_see_is_copied_and_that_is_counted() -> None:
    pool = Pool(4096)
    loan = filled(pool, b"abc")
    assert loan.writable() is loan
    clone = loan.clone()
    copy = loan.writable()
    copy.edit()[0] = ord("x")
    assert (loan.tobytes(), clone.tobytes(), copy.tobytes()) == (b"abc", b"abc", b"xbc")
    assert (pool.stats.copies, pool.stats.copied_bytes) == (1, 3)
    del clone
    assert loan.writable() is loan
    assert pool.stats.copies == 1


def test_a_view_for_reading_is_a_holder_too() -> None:
    loan = filled(Pool(4096), b"abc")
    view = np.frombuffer(loan.memory(), np.uint8)[1:]
    assert loan.is_shared
    assert loan.writable() is not loan
    with pytest.raises(InvalidInput, match="call writable"):
        loan.edit()
    del view
    assert loan.writable() is loan


def test_the_copy_of_a_slice_is_that_of_its_bytes_alone() -> None:
    pool = Pool(4096)
    loan = filled(pool, b"abcdef")
    copy = loan.slice(1, 2).writable()
    assert (copy.tobytes(), pool.stats.copied_bytes) == (b"bc", 2)


def test_a_copy_needs_a_free_slot() -> None:
    pool = Pool(4096, slots=1)
    loan = filled(pool, b"abc")
    clone = loan.clone()
    with pytest.raises(Exception, match="1 are lent"):
        loan.writable()
    assert clone.writable(Pool(4096)).tobytes() == b"abc"


def test_memory_of_somebody_else_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abcdef")
    for memory in (Segment.file(tmp_path / "file"), b"abcdef", bytearray(b"abcdef"), array.array("B", b"abcdef")):
        buffer: Buffer[memoryview] = Buffer.over(memory)
        assert buffer.is_shared
        with pytest.raises(InvalidInput, match="others can see"):
            buffer.edit()
        with pytest.raises(InvalidInput, match="writable\\(pool\\)"):
            buffer.writable()
        pool = Pool(4096)
        copy = buffer.slice(1, 4).writable(pool)
        copy.edit()[0] = ord("x")
        assert (copy.tobytes(), buffer.tobytes(), pool.stats.copies) == (b"xcde", b"abcdef", 1)


def test_memory_in_several_pieces_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one piece"):
        Buffer.over(np.zeros((4, 4), np.uint8)[:, 1])
    with pytest.raises(InvalidInput, match="bytes-like"):
        Buffer.over("text")
    assert Buffer.over(np.zeros((0, 3))).tobytes() == b""


def test_a_length_is_checked_against_its_format_where_they_meet() -> None:
    loan = Pool(4096).loan(48)
    image = loan.as_format(ImageFormat("rgb24", 4, 4))
    assert image.view().pixels.shape == (4, 4, 3)
    wrong: list[Format[Any]] = [ImageFormat("rgb24", 4, 5), Array("float64", (7,))]
    for format_ in wrong:
        with pytest.raises(InvalidInput, match="the buffer has 48"):
            loan.as_format(format_)
        with pytest.raises(InvalidInput, match="the buffer has 48"):
            Buffer.over(bytes(48), format_)


def arrow_buffer(pool: Pool, rows: pa.RecordBatch) -> Buffer[pa.RecordBatch]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return filled(pool, sink.getvalue().to_pybytes()).as_format(ARROW)


def test_an_arrow_batch_is_a_view_of_the_slot() -> None:
    rows = pa.record_batch({"n": pa.array([1, 2, 3], pa.int64()), "s": ["a", None, "c"]})
    buffer = arrow_buffer(Pool(4096), rows)
    batch = buffer.view()
    assert batch == rows
    values = batch.column("n").buffers()[1]
    assert values is not None
    start = buffer.arrow().address
    assert start <= values.address < start + buffer.nbytes


def test_an_arrow_batch_that_is_none_is_corrupt_data_and_no_crash() -> None:
    pool = Pool(4096)
    rows = pa.record_batch({"s": pa.array(["first", "second", "third"])})
    whole = arrow_buffer(pool, rows).tobytes()
    with pytest.raises(CorruptData, match="no sound Arrow batch"):
        filled(pool, b"no arrow at all").as_format(ARROW).view()
    offsets = rows.column("s").buffers()[1]
    assert offsets is not None
    place = whole.find(offsets.to_pybytes()[:16])
    beyond = whole[: place + 4] + (1 << 30).to_bytes(4, "little") + whole[place + 8 :]
    with pytest.raises(CorruptData):
        filled(pool, beyond).as_format(ARROW).view()


def test_the_content_is_checked_again_after_an_edit() -> None:
    buffer = arrow_buffer(Pool(4096), pa.record_batch({"n": [1]}))
    buffer.view()
    plain = buffer.as_format(BYTES)
    del buffer
    plain.edit()[:] = bytes(plain.nbytes)
    with pytest.raises(CorruptData):
        plain.as_format(ARROW).view()


def test_metadata_belongs_to_the_handle() -> None:
    loan = Pool(4096).loan(1, metadata=Metadata(sequence=7, flags=Flags.KEY))
    later = loan.with_metadata(sequence=8, event_time_us=5)
    assert (loan.metadata.sequence, later.metadata) == (7, Metadata(8, 5, flags=Flags.KEY))
    assert loan.slice(0, 1).metadata.sequence == 7
    assert loan.clone().metadata is loan.metadata


def test_a_released_buffer_says_so_and_its_views_live_on() -> None:
    pool = Pool(4096, slots=1)
    with filled(pool, b"abc") as loan:
        view = loan.memory()
    loan.release()
    for use in (loan.clone, loan.memory, loan.edit, loan.writable, lambda: loan.slice(0, 1)):
        with pytest.raises(Closed, match="was released"):
            use()
    assert (bytes(view), pool.stats.slots_lent) == (b"abc", 1)
    del view
    assert pool.stats.slots_lent == 0


def test_a_buffer_cannot_be_pickled_by_mistake() -> None:
    with pytest.raises(InvalidInput, match="tobytes"):
        pickle.dumps(filled(Pool(4096), b"abc"))


def test_a_buffer_of_nothing_is_a_buffer() -> None:
    empty = Pool(4096).loan(0)
    assert (empty.tobytes(), len(empty), empty.view().nbytes) == (b"", 0, 0)
    assert empty.clone().writable().tobytes() == b""
