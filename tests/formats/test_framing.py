"""Values that name their schemas: written and read back, several schemas side by side, wrong ones told."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import NotFound
from headrace.formats import Decoder, ValueFormat, decoder
from headrace.formats.framing import FramedDecoder, SchemaKey, prefix, split, with_prefix

NUMBERS = pa.schema([("n", pa.int64())])


@given(st.integers(0, 2**31 - 1), st.none() | st.lists(st.integers(0, 2**20), min_size=1, max_size=5), st.binary())
def test_what_is_put_before_a_value_is_found_again(schema_id: int, path: list[int] | None, value: bytes) -> None:
    written = prefix(schema_id, None if path is None else tuple(path)) + value
    (found_id, found_path), rest = split(written, has_path=path is not None)
    assert (found_id, found_path, rest) == (schema_id, tuple(path or ()), value)


@pytest.mark.parametrize(
    "value", [b"", b"\0\0\0\0", b"\1\0\0\0\1{}", b"\0\0\0\0\1", b"\0\0\0\0\1\xff\xff\xff\xff\xff\xff"]
)
def test_a_value_that_does_not_begin_so_is_refused(value: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        split(value, has_path=True)


def test_each_value_is_decoded_with_its_own_schema_and_the_order_stays() -> None:
    made: list[SchemaKey] = []

    def make(key: SchemaKey) -> Decoder:
        made.append(key)
        if key[0] == 9:
            raise NotFound("no schema has the id 9")
        return decoder(ValueFormat("json" if key[0] == 1 else "csv", columns=("n",)), NUMBERS)

    values = [
        *(prefix(1) + b'{"n": 1}', prefix(2) + b"2", b"{}", prefix(9) + b"3", prefix(1) + b'{"n": 4}'),
        *(prefix(2) + b"x", None, prefix(2) + b"7"),
    ]
    decode = FramedDecoder(NUMBERS, make, has_path=False)
    for _ in range(2):
        decoded = decode(pa.array(values, pa.binary()))
        assert decoded.rows.column(0).to_pylist() == [1, 2, 4, 7]
        assert decoded.indices is not None
        assert decoded.indices.to_pylist() == [0, 1, 4, 7]
        assert [record.index for record in decoded.bad] == [2, 3, 5, 6]
        assert "schema 9" in decoded.bad[1].reason
    assert made == [(1, ()), (2, ()), (9, ())]


def test_nothing_is_decoded_to_nothing() -> None:
    decode = FramedDecoder(NUMBERS, lambda key: decoder(ValueFormat("json"), NUMBERS), has_path=False)
    assert decode(pa.array([], pa.binary())).rows.num_rows == 0
    assert with_prefix(pa.array([b"a"]), b"").to_pylist() == [b"a"]
