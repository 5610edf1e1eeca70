"""Columns into batches: the inverse of `records`, with no Python object per record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headrace.errors import InvalidInput
from headrace.log.batch import TRANSACTIONAL_BIT, pack_batch
from headrace.log.codec import Codec, codec_number, compress

BATCH_BYTES = 512 << 10
"""Records of a batch before compression; well below Kafka's default limit for a message."""

RECORD_OVERHEAD_BYTES_MAX = 27
"""Length 5, attributes 1, time delta 10, offset delta 5, key and value length 5 each, header count 1, less what a
length of 0 needs anyway."""

GROUP_BYTES = 8 << 20
"""Records that are encoded at once."""

_ATTRIBUTES_BYTES = 1
# What stands behind a value where there are no headers: their number.
_NO_HEADERS = b"\x00"

Column: TypeAlias = "Sequence[bytes | None] | pa.Array[Any] | pa.ChunkedArray[Any]"


class _Cut(NamedTuple):
    """Rows of one batch, and their size at most."""

    start: int
    stop: int
    size_bytes: int


def encode_batches(
    keys: Column | None,
    values: Column,
    timestamps_ms: Sequence[int] | NDArray[np.int64],
    *,
    codec: Codec = "none",
    transactional: bool = False,
    batch_bytes: int = BATCH_BYTES,
    headers: pa.Array[Any] | None = None,
) -> Iterator[bytes]:
    """Version 2 batches at base offset 0, with no producer set (see `with_producer`), of about `batch_bytes` each.

    A record longer than that has a batch of its own. `headers` are maps of texts; a null stands for none. Raises
    InvalidInput when the columns differ in length, InvalidConfig for an unknown codec.
    """
    number = codec_number(codec)
    value_column = _binary(values)
    key_column = pa.nulls(len(value_column), pa.binary()) if keys is None else _binary(keys)
    times_ms = np.asarray(timestamps_ms, np.int64)
    if not len(key_column) == len(value_column) == len(times_ms):
        raise InvalidInput(f"{len(key_column)} keys, {len(value_column)} values and {len(times_ms)} timestamps")
    if headers is not None and len(headers) != len(times_ms):
        raise InvalidInput(f"headers of {len(headers)} records, and {len(times_ms)} timestamps")
    attributes = number | (TRANSACTIONAL_BIT if transactional else 0)
    ends = None if headers is None else _header_strings(headers)
    end_bytes = 0 if ends is None else _lengths(ends)
    cuts = _cuts(_lengths(key_column) + _lengths(value_column) + end_bytes, batch_bytes)
    for group in _groups(cuts):
        rows = slice(group[0].start, group[-1].stop)
        behind = None if ends is None else ends[rows]
        data, borders = _records(key_column[rows], value_column[rows], behind, times_ms[rows], group)
        for cut in group:
            payload = data[borders[cut.start - rows.start] : borders[cut.stop - rows.start]]
            yield pack_batch(
                compress(number, payload),
                attributes=attributes,
                record_count=cut.stop - cut.start,
                base_timestamp_ms=int(times_ms[cut.start]),
                max_timestamp_ms=int(times_ms[cut.start : cut.stop].max()),
            )


def _binary(column: Column) -> pa.BinaryArray:
    """One Arrow array of bytes, whatever the column is."""
    array: Any = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, pa.binary())
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return cast("pa.BinaryArray", array.cast(pa.binary()))


def _lengths(column: pa.BinaryArray) -> NDArray[np.int64]:
    """Bytes of each element; 0 for null."""
    lengths: Any = pc.binary_length(column).fill_null(0)
    return np.asarray(lengths.to_numpy(), np.int64)


def _cuts(content_bytes: NDArray[np.int64], batch_bytes: int) -> list[_Cut]:
    """Runs of rows that fill a batch."""
    ends = np.cumsum(content_bytes + RECORD_OVERHEAD_BYTES_MAX)
    cuts: list[_Cut] = []
    start, filled = 0, 0
    while start < len(ends):
        stop = max(start + 1, int(np.searchsorted(ends, filled + batch_bytes, "right")))
        cuts.append(_Cut(start, stop, int(ends[stop - 1]) - filled))
        start, filled = stop, int(ends[stop - 1])
    return cuts


def _groups(cuts: list[_Cut]) -> Iterator[list[_Cut]]:
    """Batches that are encoded at once: enough of them to pay for the calls, few enough for the memory."""
    group: list[_Cut] = []
    for cut in cuts:
        if group and sum(other.size_bytes for other in group) + cut.size_bytes > GROUP_BYTES:
            yield group
            group = []
        group.append(cut)
    if group:
        yield group


def _records(
    keys: pa.BinaryArray,
    values: pa.BinaryArray,
    ends: pa.BinaryArray | None,
    times_ms: NDArray[np.int64],
    cuts: Sequence[_Cut],
) -> tuple[memoryview, NDArray[np.int32]]:
    """The records of several batches, one after the other, and where each starts; the end comes last. `ends` are their
    headers."""
    firsts = np.array([cut.start for cut in cuts]) - cuts[0].start
    counts = np.array([cut.stop - cut.start for cut in cuts])
    offset_deltas = _zigzag(np.arange(len(values)) - np.repeat(firsts, counts))
    time_deltas = _zigzag(times_ms - np.repeat(times_ms[firsts], counts))
    key_lengths, value_lengths = _zigzag(_stated_lengths(keys)), _zigzag(_stated_lengths(values))
    varint_bytes = sum(_varint_sizes(column) for column in (time_deltas, offset_deltas, key_lengths, value_lengths))
    end_bytes = len(_NO_HEADERS) if ends is None else _lengths(ends)
    lengths = _zigzag(_ATTRIBUTES_BYTES + varint_bytes + _lengths(keys) + _lengths(values) + end_bytes)
    attributes = np.zeros(len(values), np.uint64)
    front = _varint_strings([lengths, attributes, time_deltas, offset_deltas, key_lengths])
    last = _NO_HEADERS if ends is None else ends
    pieces: tuple[Any, ...] = (front, keys, _varint_strings([value_lengths]), values, last, b"")
    joined: Any = pc.binary_join_element_wise(*pieces, null_handling="replace", null_replacement="")
    borders = np.frombuffer(joined.buffers()[1], np.int32)[joined.offset : joined.offset + len(joined) + 1]
    return memoryview(joined.buffers()[2]), borders


def _header_strings(headers: Any) -> pa.BinaryArray:
    """Row by row, the number of headers and the headers."""
    starts = headers.offsets.to_numpy().astype(np.int64)
    counts = np.where(headers.is_valid().to_numpy(zero_copy_only=False), np.diff(starts), 0)
    ends = np.cumsum(counts)
    numbers = _varint_strings([_zigzag(counts)])
    if not counts.any():
        return numbers
    places = np.arange(ends[-1]) + np.repeat(starts[:-1] - (ends - counts), counts)
    names, texts = (_binary(column.take(pa.array(places))) for column in (headers.keys, headers.items))
    lengths = [_varint_strings([_zigzag(_stated_lengths(column))]) for column in (names, texts)]
    pieces: tuple[Any, ...] = (lengths[0], names, lengths[1], texts, b"")
    each: Any = pc.binary_join_element_wise(*pieces, null_handling="replace", null_replacement="")
    borders: Any = pa.array(np.concatenate([[0], ends]), pa.int32())
    together: Any = pc.binary_join(pa.ListArray.from_arrays(borders, each), b"")
    whole: Any = pc.binary_join_element_wise(numbers, together, b"")
    return cast("pa.BinaryArray", whole)


def _stated_lengths(column: pa.BinaryArray) -> NDArray[np.int64]:
    """As a record states them: -1 for null."""
    return np.where(column.is_null().to_numpy(zero_copy_only=False), -1, _lengths(column))


def _zigzag(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Signed numbers so that small ones of either sign have few bits."""
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _varint_sizes(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bytes each number takes, seven bits in each."""
    sizes = np.ones(len(numbers), np.int64)
    rest = numbers >> np.uint64(7)
    while rest.any():
        sizes += rest > 0
        rest >>= np.uint64(7)
    return sizes


def _varint_strings(columns: Sequence[NDArray[np.uint64]]) -> pa.BinaryArray:
    """Row by row, the varints of all columns behind each other."""
    cells, used = [], []
    for numbers in columns:
        sizes = _varint_sizes(numbers)
        for place in range(int(sizes.max())):
            more = np.where(sizes > place + 1, 0x80, 0).astype(np.uint8)
            cells.append((numbers >> np.uint64(7 * place) & np.uint64(0x7F)).astype(np.uint8) | more)
            used.append(sizes > place)
    mask = np.stack(used, axis=1)
    borders = np.zeros(len(mask) + 1, np.int32)
    np.cumsum(mask.sum(axis=1), out=borders[1:])
    content = np.stack(cells, axis=1)[mask]
    buffers = [None, pa.py_buffer(borders.data), pa.py_buffer(content.data)]
    return cast("pa.BinaryArray", pa.BinaryArray.from_buffers(pa.binary(), len(mask), buffers))
