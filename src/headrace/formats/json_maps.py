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
    return [json.loads(value, parse_float=str if has_decimals else float) for value in values.to_pylist()]


def map_column(objects: Sequence[dict[str, Any]], field: pa.Field[Any]) -> pa.Array[Any]:
    """The map of each object. Raises ValueError where it is none, ArrowException where a value in it does not fit."""
    type_ = cast("pa.MapType[Any, Any, Any]", field.type)
    lines = "\n".join(json.dumps({_PAIRS: _pairs(one.get(field.name), field.name)}) for one in objects).encode()
    pair = pa.struct([pa.field("key", pa.string()), pa.field("value", type_.item_type)])
    read = pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    options = pa.json.ParseOptions(explicit_schema=pa.schema([pa.field(_PAIRS, pa.list_(pair))]))
    table = pa.json.read_json(cast("Any", pa.BufferReader(lines)), read, options)
    lists = cast("pa.ListArray[Any]", one_array(table[_PAIRS]))
    keys, items = lists.values.field("key").cast(type_.key_type), lists.values.field("value")
    return pa.MapArray.from_arrays(lists.offsets, keys, items, type_, mask=lists.is_null())


def _pairs(value: object, name: str) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no JSON object")
    return [{"key": key, "value": item} for key, item in value.items()]
