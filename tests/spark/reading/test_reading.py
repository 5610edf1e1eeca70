"""What a task reads: of large Arrow records the same rows, one by one or together, with and without a filter; of JSON
records the same with the scanner and without, and no more than it must."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from headrace.errors import InvalidInput
from headrace.formats import ValueFormat
from headrace.formats.json_format import JsonParser
from headrace.formats.json_plain import SCANNER
from headrace.formats.times import TIMESTAMP
from headrace.log import LogStore, encode_batches
from headrace.log import codec as codec_module
from headrace.log.testing import bomb
from headrace.log.topics import TopicConfig
from headrace.spark.reading.ranges import LARGE_VALUE_BYTES, read_columns
from headrace.spark.specs import BAD_COLUMN, SKIPPED_COLUMN, SourceSpec, TopicLocation

RECORD_ROWS = (10_000, 1, 9_000, 10_999)
_TYPES = {"n": pa.int64(), "_offset": pa.int64(), BAD_COLUMN: pa.string(), SKIPPED_COLUMN: pa.int64()}
COLUMNS = pa.schema([pa.field(name, type_) for name, type_ in _TYPES.items()])


def stream(first: int, count: int) -> bytes:
    rows = pa.record_batch({"n": pa.array(np.arange(first, first + count, dtype=np.int64))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def topic_of(directory: Path, values: list[bytes]) -> TopicLocation:
    store = LogStore.open(directory)
    try:
        partition = store.create_topic("t", 1, {"max.message.bytes": str(8 << 20)}).partitions[0]
        for value in values:
            for encoded in encode_batches(None, [value], [0]):
                partition.append(encoded)
        store.sync()
    finally:
        store.close()
    return TopicLocation("t", "127.0.0.1:1", str(directory))


@pytest.fixture
def topic(tmp_path: Path) -> TopicLocation:
    """Four records of Arrow format, the third of them broken."""
    starts = np.cumsum((0, *RECORD_ROWS))
    values = [stream(int(first), count) for first, count in zip(starts, RECORD_ROWS, strict=False)]
    values[2] = b"no Arrow" * LARGE_VALUE_BYTES
    return topic_of(tmp_path, values)


COLUMN_N = ["column", "BIGINT", "n"]


def spec(topic: TopicLocation, prefilter: list[object] | None) -> SourceSpec:
    return SourceSpec("source", topic, ValueFormat("arrow"), {"0": 0}, 1_000, False, prefilter=prefilter)


def read(topic: TopicLocation, prefilter: list[object] | None = None) -> list[pa.RecordBatch]:
    return list(read_columns(spec(topic, prefilter), COLUMNS, 0, 0, len(RECORD_ROWS)))


def rows_of(batches: list[pa.RecordBatch]) -> list[tuple[object, object]]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [(row["n"], row["_offset"]) for row in rows if row[BAD_COLUMN] is None and row[SKIPPED_COLUMN] is None]


def expected() -> list[tuple[object, object]]:
    offsets = np.repeat(np.arange(len(RECORD_ROWS)), RECORD_ROWS)
    return [(n, int(offset)) for n, offset in enumerate(offsets.tolist()) if offset != 2]


def test_rows_keep_their_order_and_their_offset(topic: TopicLocation) -> None:
    batches = read(topic)
    assert rows_of(batches) == expected()
    (letters,) = [b for b in batches if b.column(BAD_COLUMN).null_count == 0]
    assert '"offset": 2' in letters.column(BAD_COLUMN)[0].as_py()


def test_what_a_filter_leaves_of_many_records_comes_together(topic: TopicLocation) -> None:
    batches = read(topic, ["<", "BOOLEAN", COLUMN_N, ["literal", "BIGINT", 19_999]])
    wanted = [row for row in expected() if row[0] < 19_999]  # type: ignore[operator]
    assert rows_of(batches) == wanted
    few = read(topic, ["in", "BOOLEAN", COLUMN_N, *(["literal", "BIGINT", n] for n in (1, 2, 29_999))])
    assert rows_of(few) == [(1, 0), (2, 0), (29_999, 3)]
    assert len([b for b in few if b.num_rows and b.column(BAD_COLUMN).null_count]) == 2  # rows, and what was skipped
    assert few[-1].column(SKIPPED_COLUMN).to_pylist() == [sum(RECORD_ROWS) - RECORD_ROWS[2] - 3 - 1]


JSON_COLUMNS = pa.schema([*COLUMNS, pa.field("s", pa.string()), pa.field("t", TIMESTAMP)])
JSON_VALUES = [
    b'{"n":1,"s":"a","t":"2026-01-01T00:00:01Z"}',
    b'{"n":2,"s":"b","t":"2026-01-01T00:00:03Z"}',
    b'{"n":1,"s":"c","t":"2026-01-01T00:00:02Z","odd":NaN}',
    b'{"n":2,"s":"d","t":"2026-01-01T00:00:01Z","odd":NaN}',
    b'{"n":2,"s":"e"}',
    b'{"n":2,"s":5}',
]


@pytest.mark.parametrize("scanner", [True, False])
@pytest.mark.parametrize("latest", [None, "2026-01-01T00:00:03+00:00"])
def test_json_that_a_filter_rules_out_has_happened_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scanner: bool, latest: str | None
) -> None:
    importlib.import_module(SCANNER)
    if not scanner:
        monkeypatch.delitem(sys.modules, SCANNER)
    parsed: list[bytes | None] = []
    parse = JsonParser.parse

    def noted(self: JsonParser, values: pa.BinaryArray) -> pa.RecordBatch:
        parsed.extend(values.to_pylist())
        return parse(self, values)

    monkeypatch.setattr(JsonParser, "parse", noted)
    filtered = SourceSpec(
        "source", topic_of(tmp_path, JSON_VALUES), ValueFormat("json"), {"0": 0}, 1_000, False,
        prefilter=["=", "BOOLEAN", COLUMN_N, ["literal", "BIGINT", 1]], event_time=latest and "t",
    )  # fmt: skip
    batches = list(read_columns(filtered, JSON_COLUMNS, 0, 0, len(JSON_VALUES)))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["s"], row["_offset"]) for row in rows if row["s"] is not None] == [("a", 0), ("c", 2)]
    (letter,) = [row[BAD_COLUMN] for row in rows if row[BAD_COLUMN] is not None]
    assert '"offset": 5' in letter
    assert rows[-1][SKIPPED_COLUMN] == 3 - 1
    assert rows[-1]["t"] == (latest and datetime.fromisoformat(latest))
    assert (JSON_VALUES[0] in parsed or JSON_VALUES[1] in parsed) == (not scanner)


@pytest.fixture
def bombed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TopicLocation:
    """Two rows, three records that unpack to too much, one row: offsets 0 to 5."""
    monkeypatch.setattr(codec_module, "DECOMPRESSED_BYTES_MAX", 1 << 20)
    with LogStore.open(tmp_path) as store:
        partition = store.create_topic("t", 1, {}).partitions[0]
        for batch in (
            *encode_batches(None, [b'{"n":0}', b'{"n":1}'], [0, 0]),
            bomb(2 << 20, record_count=3),
            *encode_batches(None, [b'{"n":5}'], [0]),
        ):
            partition.append(batch)
        store.sync()
    return TopicLocation("t", "127.0.0.1:1", str(tmp_path))


@pytest.mark.parametrize(
    ("start", "end", "rows", "letters"),
    [(0, 6, [0, 1, 5], [(2, 4)]), (0, 3, [0, 1], [(2, 2)]), (3, 6, [5], [(3, 4)]), (5, 6, [5], [])],
)
def test_a_batch_that_nobody_can_read_is_a_bad_record(
    bombed: TopicLocation, start: int, end: int, rows: list[int], letters: list[tuple[int, int]]
) -> None:
    """A range that begins or ends within it has its share of the offsets."""
    source = SourceSpec("src", bombed, ValueFormat("json"), {"0": 0}, 1_000, False)
    read = [row for batch in read_columns(source, COLUMNS, 0, start, end) for row in batch.to_pylist()]
    assert [row["n"] for row in read if row[BAD_COLUMN] is None] == rows
    told = [json.loads(row[BAD_COLUMN]) for row in read if row[BAD_COLUMN] is not None]
    assert [(letter["offset"], letter["last_offset"]) for letter in told] == letters
    assert all("unpacks to more than" in letter["reason"] and letter["topic"] == "t" for letter in told)


def test_a_batch_that_nobody_can_read_fails_with_its_place(bombed: TopicLocation) -> None:
    source = SourceSpec("src", bombed, ValueFormat("json"), {"0": 0}, 1_000, True)
    with pytest.raises(InvalidInput, match=r"t-0 at offset 2 \(3 records\).*unpacks to more than") as failed:
        list(read_columns(source, COLUMNS, 0, 0, 6))
    assert (failed.value.node, failed.value.record and failed.value.record["offset"]) == ("src", 2)


def letters_of(directory: Path, keys: list[bytes | None], values: list[bytes]) -> list[str]:
    """The dead letters of records of which none is good."""
    store = LogStore.open(directory)
    try:
        partition = store.create_topic("t", 1, {"max.message.bytes": "100000000"}).partitions[0]
        for encoded in encode_batches(keys, values, list(range(len(values)))):
            partition.append(encoded)
        store.sync()
    finally:
        store.close()
    location = TopicLocation("t", "127.0.0.1:1", str(directory))
    source = SourceSpec("source", location, ValueFormat("json"), {"0": 0}, 1_000, False)
    rows = read_columns(source, COLUMNS, 0, 0, len(values))
    return [str(text) for batch in rows for text in batch.column(BAD_COLUMN).to_pylist()]


@pytest.mark.parametrize("value", [b"\xff", "é".encode(), b"\x00"], ids=["bytes", "text", "escaped"])
def test_a_long_dead_letter_is_cut_and_fits_into_a_topic(tmp_path: Path, value: bytes) -> None:
    long = value * 900_001
    (letter,) = letters_of(tmp_path, [long], [long])
    assert len(letter) < TopicConfig().max_message_bytes
    told = json.loads(letter)
    assert told["value_bytes"] == told["key_bytes"] == len(long)
    assert told["value_sha256"] == hashlib.sha256(long).hexdigest()
    beginning = base64.b64decode(told["value_base64"]) if value == b"\xff" else told["value"].encode()
    assert len(beginning) >= 60_000
    assert long.startswith(beginning)


def test_a_dead_letter_keeps_the_key_of_its_record(tmp_path: Path) -> None:
    letters = [json.loads(text) for text in letters_of(tmp_path, [b"k", b"\xff", None], [b"x", b"y", b"z"])]
    assert [letter.get("key", letter.get("key_base64")) for letter in letters] == ["k", "/w==", None]
    assert [letter["value"] for letter in letters] == ["x", "y", "z"]
