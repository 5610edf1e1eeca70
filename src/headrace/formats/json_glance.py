"""A first look at JSON records: a few fields of them as Arrow columns, for half the cost of parsing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SCANNER: Final = "headrace.formats.json_scan"


@dataclass(frozen=True, slots=True)
class Glance:
    """`rows` holds what the parser would make of these fields, wherever `sure`: there the record is valid JSON."""

    rows: pa.RecordBatch
    sure: NDArray[np.bool_]


def is_compiled() -> bool:
    """Whether loading the scanner takes a moment; else it takes seconds, and `python -m` SCANNER makes up for it."""
    spec = find_spec(SCANNER)
    if spec is None or spec.origin is None:
        return False
    source = Path(spec.origin)
    kept = (source.parent / "__pycache__").glob(f"{source.stem}.find_fields-*.nbi")
    return any(file.stat().st_mtime >= source.stat().st_mtime for file in kept)


def can_glance(fields: Sequence[pa.Field[Any]]) -> bool:
    """Only where the scanner was loaded before, and only for types of which it knows how the parser reads them."""
    return SCANNER in sys.modules and all(
        pa.types.is_float64(field.type)
        or pa.types.is_int64(field.type)
        or pa.types.is_int32(field.type)
        or pa.types.is_string(field.type)
        or pa.types.is_boolean(field.type)
        for field in fields
    )


def glance(values: pa.BinaryArray, fields: Sequence[pa.Field[Any]]) -> Glance | None:
    """None where only the parser can tell. Called only for fields that `can_glance`."""
    if values.null_count or not len(values):
        return None
    try:
        # The scanner takes UTF-8 for granted. Numbers that do not fit their type fail just as they do in the parser.
        return _glance(cast("pa.StringArray", values.cast(pa.string())), fields)
    except pa.ArrowInvalid:
        return None


def _glance(text: pa.StringArray, fields: Sequence[pa.Field[Any]]) -> Glance:
    from headrace.formats import json_scan as scan  # noqa: PLC0415  (loaded before, or not at all)

    offsets, content = text.buffers()[1:]
    data = np.frombuffer(cast("Any", content), np.uint8)
    data.flags.writeable = False  # the kind of array that the scanner was compiled for
    borders = np.frombuffer(cast("Any", offsets), np.int32)[text.offset : text.offset + len(text) + 1].astype(np.int64)
    encoded = [field.name.encode() for field in fields]
    names = scan.Names(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), np.cumsum([0, *map(len, encoded)]))
    shape = (len(fields), len(text))
    places = scan.Places(np.zeros(shape, np.uint8), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    sure = scan.find_fields(data, borders, names, places)
    columns: list[pa.Array[Any]] = []
    for number, field in enumerate(fields):
        found = places.kinds[number]
        is_boolean, is_text = pa.types.is_boolean(field.type), pa.types.is_string(field.type)
        valid = (scan.TRUE, scan.FALSE) if is_boolean else (scan.TEXT,) if is_text else (scan.NUMBER,)
        known = np.isin(found, valid)
        sure &= known | (found == scan.ABSENT)
        known &= sure
        if is_boolean:
            columns.append(pa.array(found == scan.TRUE, mask=~known))
        else:
            columns.append(
                _texts(*scan.gather(data, known, places.starts[number], places.ends[number]), known).cast(field.type)
            )
    return Glance(pa.record_batch(columns, schema=pa.schema(fields)), sure)


def _texts(content: NDArray[np.uint8], borders: NDArray[np.int32], known: NDArray[np.bool_]) -> pa.StringArray:
    valid = np.packbits(known, bitorder="little")
    buffers = [pa.py_buffer(cast("Any", part)) for part in (borders, content, valid)]
    return pa.StringArray.from_buffers(len(known), buffers[0], buffers[1], buffers[2])
