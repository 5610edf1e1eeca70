"""Records out of batches, as columns.

A record starts with its length, so the starts must be walked one after the other; that loop does nothing else, and is
compiled where there are many. All other fields are then read for all records at once; Arrow gathers keys and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.errors import CorruptData
from headrace.log.batch import HEADER_BYTES, BatchHeader, crc_matches, is_plausible, read_header
from headrace.log.storage import Buffer
from headrace.log.unreadable import UnreadableBatch, unpacked

Header = tuple[str, bytes | None]
Integers = NDArray[np.int64]

# From so many records on, the compiled walk is worth loading. A broker looks at one batch at a time and stays small.
COMPILED_FROM_RECORDS = 10_000

_MORE = 0x80
_VARINT_BYTES_MAX = 10
_STEPS = [(low & 0x7F) // 2 + 2 for low in range(256)]
"""Of a length in two bytes: what the lower one adds to the way to the next record. A table is faster than the sum."""


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a partition in the order of their offsets. `headers` only if they were asked for."""

    offsets: Integers
    timestamps_ms: Integers
    keys: pa.BinaryArray
    values: pa.BinaryArray
    headers: list[list[Header]] | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    def filter(self, chosen: NDArray[np.bool_]) -> Records:
        """The chosen ones, in order."""
        mask = pa.array(chosen)
        headers = None if self.headers is None else [self.headers[index] for index in np.flatnonzero(chosen)]
        return Records(
            self.offsets[chosen], self.timestamps_ms[chosen], self.keys.filter(mask), self.values.filter(mask), headers
        )

    def one(self, index: int) -> Records:
        """A single one, where it lies."""
        here = slice(index, index + 1)
        headers = None if self.headers is None else self.headers[here]
        return Records(
            self.offsets[here],
            self.timestamps_ms[here],
            self.keys.slice(index, 1),
            self.values.slice(index, 1),
            headers,
        )


class Payload(NamedTuple):
    """Where one batch's records, uncompressed, are in a buffer that many batches share."""

    header: BatchHeader
    start: int
    end: int


class _Columns(NamedTuple):
    """Positions of the records' fields in the shared buffer."""

    time_deltas_ms: Integers
    offset_deltas: Integers
    key_starts: Integers
    key_lengths: Integers
    value_starts: Integers
    value_lengths: Integers


class RecordSpans(NamedTuple):
    """The records of one batch where they are in its uncompressed payload. A length of -1 is null."""

    starts: Integers
    ends: Integers
    offsets: Integers
    key_starts: Integers
    key_lengths: Integers
    value_lengths: Integers


def record_spans(header: BatchHeader, data: Buffer) -> RecordSpans:
    """For those who move whole records without decoding them. Raises UnreadableBatch."""
    payloads = [Payload(header, 0, len(data))]
    try:
        starts, ends = _walk(data, payloads)
        columns = _columns(np.frombuffer(data, np.uint8), starts, ends)
        offsets, _ = _positions(payloads, columns)
    except IndexError:
        raise _malformed(header) from None
    return RecordSpans(starts, ends, offsets, columns.key_starts, columns.key_lengths, columns.value_lengths)


def decode_batch(batch: Buffer, *, headers: bool = False) -> Records:
    """The records of one batch. Raises CorruptData when it does not match its checksum, UnreadableBatch when its
    records cannot be unpacked or do not match their own lengths."""
    if len(batch) < HEADER_BYTES:
        raise CorruptData(f"{len(batch)} bytes are too few for a record batch")
    header = read_header(batch)
    if not is_plausible(header) or header.size_bytes > len(batch) or not crc_matches(header, batch):
        raise CorruptData(f"the batch at offset {header.base_offset} fails its checksum")
    data = unpacked(header, batch)
    return decode_payloads(data, [Payload(header, 0, len(data))], headers=headers)


def decode_payloads(
    data: Buffer,
    payloads: Sequence[Payload],
    *,
    start_offset: int = 0,
    end_offset: int | None = None,
    headers: bool = False,
) -> Records:
    """The records of several batches with offsets in [start_offset, end_offset).

    Raises UnreadableBatch; of several batches it may name one in front of the one at fault.
    """
    try:
        starts, ends = _walk(data, payloads)
        columns = _columns(np.frombuffer(data, np.uint8), starts, ends)
        offsets, timestamps_ms = _positions(payloads, columns)
        rows = _rows_between(offsets, start_offset, end_offset)
        value_ends = columns.value_starts + np.maximum(columns.value_lengths, 0)
        listed = (
            [_headers(data, *span) for span in zip(value_ends[rows].tolist(), ends[rows].tolist(), strict=True)]
            if headers
            else None
        )
    except IndexError:
        raise _malformed(payloads[0].header) from None
    buffer = pa.py_buffer(data)
    return Records(
        offsets[rows],
        timestamps_ms[rows],
        _gather(buffer, columns.key_starts[rows], columns.key_lengths[rows]),
        _gather(buffer, columns.value_starts[rows], columns.value_lengths[rows]),
        listed,
    )


def _malformed(header: BatchHeader) -> UnreadableBatch:
    return UnreadableBatch(header, "its records are malformed")


def _walk(data: Buffer, payloads: Sequence[Payload]) -> tuple[Integers, Integers]:
    """Where each record starts and ends. Raises UnreadableBatch, or IndexError when a length leads out of the data."""
    for header, start, end in payloads:
        if not 0 <= header.record_count <= end - start:
            raise _malformed(header)
    counts = np.array([payload.header.record_count for payload in payloads], np.int64)
    many = counts.sum() >= COMPILED_FROM_RECORDS
    starts = _starts_compiled(data, payloads, counts) if many else _starts_stepwise(data, payloads)
    ends = np.empty_like(starts)
    ends[:-1] = starts[1:]
    filled = counts > 0
    ends[np.cumsum(counts)[filled] - 1] = np.array([payload.end for payload in payloads])[filled]
    return starts, ends


def _starts_compiled(data: Buffer, payloads: Sequence[Payload], counts: Integers) -> Integers:
    from headrace.log.walk import ALL_SOUND, record_starts  # noqa: PLC0415  (66 MB: only where it pays)

    begins = np.array([payload.start for payload in payloads], np.int64)
    ends = np.array([payload.end for payload in payloads], np.int64)
    starts = np.empty(int(counts.sum()), np.int64)
    unsound = record_starts(np.frombuffer(data, np.uint8), begins, ends, counts, starts)
    if unsound != ALL_SOUND:
        raise _malformed(payloads[unsound].header)
    return starts


def _starts_stepwise(data: Buffer, payloads: Sequence[Payload]) -> Integers:
    starts: list[int] = []
    add, steps = starts.append, _STEPS
    for header, start, end in payloads:
        position = start
        for _ in range(header.record_count):
            add(position)
            low = data[position]
            if low < _MORE:
                position += (low >> 1) + 1
            elif (high := data[position + 1]) < _MORE:
                position += steps[low] + (high << 6)
            else:
                length, position = _varint(data, position)
                position += max(length, 0)
        if position != end:
            raise _malformed(header)
    return np.array(starts, np.int64)


def _varints(data: NDArray[np.uint8], at: Integers) -> tuple[Integers, Integers]:
    """Zigzag numbers at many positions, and the positions behind them. Raises IndexError outside the buffer."""
    byte = data[at]
    value = (byte & 0x7F).astype(np.uint64)
    behind = at + 1
    pending = np.flatnonzero(byte >= _MORE)
    for shift in range(7, 7 * _VARINT_BYTES_MAX, 7):
        if not pending.size:
            break
        byte = data[behind[pending]]
        value[pending] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        behind[pending] += 1
        pending = pending[byte >= _MORE]
    if pending.size:
        raise IndexError
    signed = (value >> np.uint64(1)).view(np.int64) ^ -(value & np.uint64(1)).view(np.int64)
    return signed, behind


def _require(sound: NDArray[np.bool_]) -> None:
    if not sound.all():
        raise IndexError


def _columns(data: NDArray[np.uint8], starts: Integers, ends: Integers) -> _Columns:
    """The fields of all records. Raises IndexError when one does not fit between its start and its end."""
    lengths, at = _varints(data, starts)
    _require(lengths == ends - at)
    time_deltas_ms, at = _varints(data, at + 1)
    offset_deltas, at = _varints(data, at)
    key_lengths, key_starts = _varints(data, at)
    _require((key_lengths >= -1) & (key_lengths <= ends - key_starts))
    value_lengths, value_starts = _varints(data, key_starts + np.maximum(key_lengths, 0))
    _require((value_lengths >= -1) & (value_lengths <= ends - value_starts))
    return _Columns(time_deltas_ms, offset_deltas, key_starts, key_lengths, value_starts, value_lengths)


def _positions(payloads: Sequence[Payload], columns: _Columns) -> tuple[Integers, Integers]:
    """Offsets and timestamps. Raises IndexError when an offset is not its batch's, or not above the one before."""
    headers = [payload.header for payload in payloads]
    counts = np.array([header.record_count for header in headers])
    offsets = np.repeat(np.array([header.base_offset for header in headers], np.int64), counts) + columns.offset_deltas
    ends = np.repeat(np.array([header.next_offset for header in headers], np.int64), counts)
    _require((columns.offset_deltas >= 0) & (offsets < ends))
    _require(offsets[1:] > offsets[:-1])
    times_ms = np.repeat(np.array([header.base_timestamp_ms for header in headers], np.int64), counts)
    times_ms += columns.time_deltas_ms
    if any(header.uses_append_time for header in headers):
        stamped = np.repeat(np.array([header.uses_append_time for header in headers]), counts)
        append_ms = np.repeat(np.array([header.max_timestamp_ms for header in headers], np.int64), counts)
        times_ms = np.where(stamped, append_ms, times_ms)
    return offsets, times_ms


def _rows_between(offsets: Integers, start_offset: int, end_offset: int | None) -> slice | NDArray[np.bool_]:
    wanted = offsets >= start_offset
    if end_offset is not None:
        wanted &= offsets < end_offset
    return slice(None) if wanted.all() else wanted


def _gather(buffer: pa.Buffer, starts: Integers, lengths: Integers) -> pa.BinaryArray:
    """Pieces of a buffer as one Arrow column; length -1 is null.

    The pieces and the gaps between them form an array over the buffer as it is; Arrow takes every second element.
    """
    count, missing = len(starts), lengths < 0
    if missing.all():
        return pa.nulls(count, pa.binary())
    borders = np.empty(2 * count + 1, np.int32)
    borders[0:-1:2] = starts
    borders[1::2] = starts + np.maximum(lengths, 0)
    borders[-1] = borders[-2]
    pieces = pa.BinaryArray.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(borders.data), buffer])
    values: pa.Int64Array = pa.array(np.arange(0, 2 * count, 2), pa.int64(), mask=missing)
    return cast("pa.BinaryArray", pieces.take(values))


def _headers(data: Buffer, at: int, end: int) -> list[Header]:
    """A record's headers, between its value and its end. Raises IndexError when they do not fill that."""
    count, at = _varint(data, at)
    headers: list[Header] = []
    for _ in range(count):
        key_length, at = _varint(data, at)
        key, at = _piece(data, at, key_length, end)
        value_length, at = _varint(data, at)
        value, at = (None, at) if value_length == -1 else _piece(data, at, value_length, end)
        headers.append((key.decode(errors="replace"), value))
    if at != end:
        raise IndexError
    return headers


def _piece(data: Buffer, at: int, length: int, end: int) -> tuple[bytes, int]:
    if not 0 <= length <= end - at:
        raise IndexError
    return bytes(data[at : at + length]), at + length


def _varint(data: Buffer, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            return (value >> 1) ^ -(value & 1), at
    raise IndexError
