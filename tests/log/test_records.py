"""Encoding and decoding, each against aiokafka's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace.errors import CorruptData, InvalidInput
from headrace.log import CODECS, Codec, decode_batch, encode_batches
from headrace.log.batch import HEADER_BYTES, read_header, sealed, with_append_time
from headrace.log.records import COMPILED_FROM_RECORDS, Payload, _varints, _walk

maybe_bytes = st.none() | st.binary(max_size=40) | st.integers(60, 9000).map(lambda size: b"x" * size)
times_ms = st.integers(0, 2**45)
headers = st.lists(st.tuples(st.text(max_size=8), st.none() | st.binary(max_size=8)), max_size=3)
row = st.tuples(maybe_bytes, maybe_bytes, times_ms)
Row = tuple[bytes | None, bytes | None, int]


def encoded(rows: list[Row], codec: Codec = "none", batch_bytes: int = 1 << 20) -> list[bytes]:
    keys, values, times = zip(*rows, strict=True)
    return list(encode_batches(keys, values, times, codec=codec, batch_bytes=batch_bytes))


def built_by_aiokafka(rows: list[tuple[Any, ...]], codec: int = 0) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 30,
    )
    for offset, (key, value, time_ms, *rest) in enumerate(rows):
        builder.append(offset, time_ms, key, value, rest[0] if rest else [])
    return bytes(builder.build())


@given(rows=st.lists(row, min_size=1, max_size=30), codec=st.sampled_from(CODECS), batch_bytes=st.integers(50, 20_000))
def test_aiokafka_reads_what_we_encode(rows: list[Row], codec: Codec, batch_bytes: int) -> None:
    batches = encoded(rows, codec, batch_bytes)
    theirs: list[Row] = []
    for batch in batches:
        decoded = DefaultRecordBatch(batch)
        assert decoded.validate_crc()
        records = list(decoded)
        assert [record.offset for record in records] == list(range(len(records)))
        assert read_header(batch).max_timestamp_ms == max(record.timestamp for record in records)
        theirs += [(record.key, record.value, record.timestamp) for record in records]
    assert theirs == rows


@given(rows=st.lists(st.tuples(maybe_bytes, maybe_bytes, times_ms, headers), min_size=1, max_size=30))
@pytest.mark.parametrize("codec", range(5))
def test_we_read_what_aiokafka_builds(rows: list[tuple[Any, ...]], codec: int) -> None:
    records = decode_batch(built_by_aiokafka(rows, codec), headers=True)
    assert records.offsets.tolist() == list(range(len(rows)))
    assert records.timestamps_ms.tolist() == [time_ms for _, _, time_ms, _ in rows]
    assert records.keys.to_pylist() == [key for key, _, _, _ in rows]
    assert records.values.to_pylist() == [value for _, value, _, _ in rows]
    assert records.headers == [listed for _, _, _, listed in rows]


maps = st.none() | st.dictionaries(st.text(max_size=80), st.none() | st.text(max_size=80), max_size=4)


@given(rows=st.lists(st.tuples(maybe_bytes, maps), min_size=2, max_size=30), batch_bytes=st.integers(50, 20_000))
def test_aiokafka_reads_the_headers_that_we_encode(
    rows: list[tuple[bytes | None, dict[str, str | None] | None]], batch_bytes: int
) -> None:
    column = pa.array(
        [None if one is None else list(one.items()) for _, one in rows], pa.map_(pa.string(), pa.string())
    )
    values: list[bytes | None] = [value for value, _ in rows]
    # A slice: what is before it in memory is none of it.
    batches = encode_batches(None, values[1:], [5] * (len(rows) - 1), batch_bytes=batch_bytes, headers=column[1:])
    theirs = [(record.value, record.headers) for batch in batches for record in DefaultRecordBatch(batch)]
    assert theirs == [
        (value, [(name, None if text is None else text.encode()) for name, text in (one or {}).items()])
        for value, one in rows[1:]
    ]


def test_headers_are_decoded_only_when_asked() -> None:
    assert decode_batch(built_by_aiokafka([(b"k", b"v", 5, [("h", b"1")])])).headers is None


def test_append_time_is_every_records_time() -> None:
    (batch,) = encoded([(None, b"a", 5), (None, b"b", 9)])
    assert decode_batch(with_append_time(batch, 123)).timestamps_ms.tolist() == [123, 123]


def test_arrow_columns_of_any_binary_type_are_taken() -> None:
    columns: list[Any] = [
        pa.array([b"a", None], pa.binary()),
        pa.array(["a", None], pa.string()),
        pa.array([b"a", None], pa.large_binary()),
        pa.chunked_array([pa.array([b"a"]), pa.array([None], pa.binary())]),
        pa.array([b"zz", b"a", None], pa.binary())[1:],
    ]
    for column in columns:
        (batch,) = encode_batches(column, column, np.array([1, 2]))
        decoded = decode_batch(batch)
        assert decoded.keys.to_pylist() == decoded.values.to_pylist() == [b"a", None]


def test_batches_keep_to_their_size() -> None:
    batches = encoded([(None, b"x" * 900, 0)] * 100, batch_bytes=10_000)
    assert len(batches) > 9
    assert max(len(batch) for batch in batches) <= 10_000 + HEADER_BYTES


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="1 keys, 2 values and 2 timestamps"):
        list(encode_batches([b"k"], [b"a", b"b"], [1, 2]))


def test_no_rows_give_no_batch() -> None:
    assert list(encode_batches(None, [], [])) == []


@given(rows=st.lists(row, min_size=1, max_size=8), place=st.integers(0, 10_000), value=st.integers(0, 255))
def test_malformed_records_with_a_valid_checksum_are_corrupt_data(rows: list[Row], place: int, value: int) -> None:
    batch = bytearray(encoded(rows)[0])
    batch[HEADER_BYTES + place % (len(batch) - HEADER_BYTES)] = value
    try:
        decoded = decode_batch(sealed(batch), headers=True)
    except CorruptData:
        return
    assert len(decoded) == len(rows)


@given(content=st.binary(max_size=300), count=st.integers(-3, 2**31 - 1))
def test_any_payload_under_any_count_is_decoded_or_corrupt(content: bytes, count: int) -> None:
    batch = bytearray(encoded([(None, b"", 0)])[0][:HEADER_BYTES]) + content
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[57:61] = count.to_bytes(4, "big", signed=True)
    try:
        decode_batch(sealed(batch), headers=True)
    except CorruptData:
        return


def test_a_flipped_bit_is_corrupt_data() -> None:
    batch = bytearray(encoded([(b"k", b"v", 0)])[0])
    batch[-3] ^= 1
    with pytest.raises(CorruptData, match="fails its checksum"):
        decode_batch(batch)


@given(st.data())
def test_the_compiled_walk_goes_as_the_stepwise_one(data: st.DataObject) -> None:
    """Also over bytes that are no records at all: both refuse, or both find the same starts."""
    lengths = data.draw(st.lists(st.sampled_from([0, 1, 5, 63, 64, 127, 8_191, 8_192, 20_000]), max_size=8))
    counts = [data.draw(st.integers(0, 4)) for _ in range(2)]
    raw = bytearray(b"".join(_varint_bytes(length) + bytes(length) for length in lengths))
    for at in data.draw(st.lists(st.integers(0, max(0, len(raw) - 1)), max_size=2)):
        if raw:
            raw[at] = data.draw(st.integers(0, 255))
    middle = data.draw(st.integers(0, len(raw)))
    header = read_header(next(iter(encode_batches(None, pa.array([b"x"]), np.zeros(1, np.int64)))))
    payloads = [
        Payload(header._replace(record_count=counts[0]), 0, middle),
        Payload(header._replace(record_count=counts[1]), middle, len(raw)),
    ]
    assert _walked(bytes(raw), payloads, COMPILED_FROM_RECORDS) == _walked(bytes(raw), payloads, 0)


def _walked(raw: bytes, payloads: list[Payload], compiled_from: int) -> list[list[int]] | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrace.log.records.COMPILED_FROM_RECORDS", compiled_from)
        try:
            starts, ends = _walk(raw, payloads)
            _columns_fit(raw, starts, ends)
        except (CorruptData, IndexError):
            return None
    return [starts.tolist(), ends.tolist()]


def _columns_fit(raw: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
    """The stepwise walk leaves it to the next step to see that a length and its end do not agree."""
    lengths, behind = _varints(np.frombuffer(raw, np.uint8), starts)
    if not (lengths == ends - behind).all():
        raise IndexError


def _varint_bytes(length: int) -> bytes:
    zigzag, encoded = length << 1, bytearray()
    while zigzag >= 0x80:
        encoded.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*encoded, zigzag])
