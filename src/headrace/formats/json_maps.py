"""Columns of maps in JSON: Arrow's parser has none, so they are read as lists of pairs, as strictly as all else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.json

from headrace.formats.decoding import one_array

_PAIRS = "pairs"


def read_objects(values: pa.BinaryArray, maps: Sequence[pa.Field[Any]]) -> list[dict[str, Any]]:
    """One for each value, which is known to be JSON. Numbers with a fraction stay texts where a map holds decimals, for
    these have more digits than a float."""
    has_decimals = any("decimal" in str(field.type) for field in maps)
    texts = cast("list[bytes]", values.to_pylist())
    return [json.loads(text, parse_float=str if has_decimals else float) for text in texts]


def map_column(objects: Sequence[dict[str, Any]], field: pa.Field[Any]) -> pa.Array[Any]:
    """The map of each object. Raises ValueError where it is none, ArrowException where a value in it does not fit."""
    type_ = cast("pa.MapType[Any, Any, Any]", field.type)
    lines = "\n".join(json.dumps({_PAIRS: _pairs(one.get(field.name), field.name)}) for one in objects).encode()
    pair = pa.struct([pa.field("key", pa.string()), pa.field("value", type_.item_type)])
    read = pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    options = pa.json.ParseOptions(explicit_schema=pa.schema([pa.field(_PAIRS, pa.list_(pair))]))
    table = pa.json.read_json(cast("Any", pa.BufferReader(lines)), read, options)
    lists = cast("pa.ListArray[Any]", one_array(table[_PAIRS]))
    pairs = cast("pa.StructArray", lists.values)
    keys: Any = pairs.field("key").cast(type_.key_type)
    made: pa.Array[Any] = cast("Any", pa.MapArray).from_arrays(
        lists.offsets, keys, pairs.field("value"), type_, mask=lists.is_null()
    )
    return made


def _pairs(value: object, name: str) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no JSON object")
    return [{"key": key, "value": item} for key, item in value.items()]
