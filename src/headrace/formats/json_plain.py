"""Plain JSON objects as Arrow columns, for a fifth of what parsing costs: see `json_scan` for what is plain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headrace.compiled import is_kept
from headrace.formats.times import TIMESTAMP

if TYPE_CHECKING:
    from headrace.formats.json_scan import Fields, Found

SCANNER: Final = "headrace.formats.json_scan"

_WHOLE_BITS: Final[dict[pa.DataType, int]] = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
_REALS: Final = (pa.float32(), pa.float64())
# More of them would not fit as microseconds.
_MILLISECONDS_MAX: Final = ((1 << 63) - 1) // 1000


def is_compiled() -> bool:
    """Whether loading the scanner takes a moment; else it takes seconds."""
    return is_kept(SCANNER, "gather")


def can_scan(columns: pa.Schema) -> bool:
    """Only where the scanner was loaded before, and only for types of which it knows how the parser reads them."""
    known = (*_WHOLE_BITS, *_REALS, pa.bool_(), pa.string(), TIMESTAMP)
    names = columns.names
    return (
        SCANNER in sys.modules and 0 < len(names) == len(set(names)) and all(type_ in known for type_ in columns.types)
    )


class PlainScanner:
    """Looks for the fields of a schema that it `can_scan`."""

    def __init__(self, columns: pa.Schema) -> None:
        self._columns = columns
        self._names = np.frombuffer("".join(columns.names).encode(), np.uint8)
        self._fields = _fields(columns, self._names.ctypes.data)

    def __call__(self, values: pa.BinaryArray) -> Plain | None:
        """None where a value is not UTF-8, which the scanner takes for granted."""
        from headrace.formats import json_scan as scan  # noqa: PLC0415  (loaded before, or not at all)

        try:
            text = cast("pa.StringArray", values.cast(pa.string()))
        except pa.ArrowInvalid:
            return None
        offsets, content = text.buffers()[1:]
        if offsets is None or content is None:
            return None
        borders = np.frombuffer(cast("Any", offsets), np.int32)[text.offset : text.offset + len(text) + 1]
        shape = (len(self._columns), len(text))
        found = np.zeros(shape, np.bool_), np.empty(shape, np.int64), np.empty(shape, np.int64)
        addresses = content.address + borders.astype(np.int64)
        are_plain, time_kind = scan.find_values(addresses, tuple(self._fields), found)
        if text.null_count:
            are_plain &= text.is_valid().to_numpy(zero_copy_only=False)
        time_kinds = {scan.TEXT_TIME: "iso", scan.NUMBER_TIME: "epoch"}
        return Plain(are_plain, time_kinds.get(time_kind), self._columns, text, found)


@dataclass(frozen=True, slots=True)
class Plain:
    """What was found in some values, of those that `are_plain`: just what the parser makes of them.

    `time_kind` is how they write times, if they do. Where a text is found is told by addresses in `_text`.
    """

    are_plain: NDArray[np.bool_]
    time_kind: str | None
    _columns: pa.Schema
    _text: pa.StringArray
    _found: Found

    def rows(self, indices: NDArray[np.int64], names: Sequence[str] | None = None) -> pa.RecordBatch:
        """The plain values of these indices, all columns or some."""
        chosen = self._columns if names is None else pa.schema([self._columns.field(name) for name in names])
        return pa.record_batch([self._column(field, indices) for field in chosen], schema=chosen)

    def _column(self, field: pa.Field[Any], indices: NDArray[np.int64]) -> pa.Array[Any]:
        from headrace.formats import json_scan as scan  # noqa: PLC0415  (loaded before)

        number, type_, count = self._columns.get_field_index(field.name), field.type, len(indices)
        all_valid, numbers, ends = (part[number] for part in self._found)
        valid = all_valid[indices]
        mask = None if valid.all() else _buffer(np.packbits(valid, bitorder="little"))
        if pa.types.is_string(type_) or type_ in _REALS:
            content, borders = scan.gather(indices, all_valid, numbers, ends)
            texts = pa.StringArray.from_buffers(count, _buffer(borders), _buffer(content), mask)
            return texts if pa.types.is_string(type_) else texts.cast(type_)
        chosen = numbers[indices]
        if pa.types.is_boolean(type_):
            return pa.Array.from_buffers(type_, count, [mask, _buffer(np.packbits(chosen != 0, bitorder="little"))])
        bits = _WHOLE_BITS.get(type_, 64)
        return pa.Array.from_buffers(type_, count, [mask, _buffer(chosen.astype(f"int{bits}", copy=False))])


def _buffer(array: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(cast("Any", array))


def _fields(columns: pa.Schema, names_address: int) -> Fields:
    from headrace.formats import json_scan as scan  # noqa: PLC0415  (loaded before)

    names = [name.encode() for name in columns.names]
    borders = names_address + np.cumsum([0, *map(len, names)])
    firsts, nexts = np.full(scan.BUCKET_COUNT, -1), np.full(len(names), -1)
    for number, name in enumerate(names):
        bucket = scan.name_bucket(name)
        nexts[number], firsts[bucket] = firsts[bucket], number
    kinds = np.array([_kind(type_) for type_ in columns.types])
    highs = np.array([_largest(type_) for type_ in columns.types])
    return scan.Fields(
        borders[:-1].copy(), borders[1:].copy(), kinds, -highs - (kinds == scan.WHOLE), highs, firsts, nexts
    )


def _kind(type_: pa.DataType) -> int:
    from headrace.formats import json_scan as scan  # noqa: PLC0415  (loaded before)

    others = {TIMESTAMP: scan.TIME, pa.bool_(): scan.BOOLEAN, pa.string(): scan.TEXT}
    return scan.WHOLE if type_ in _WHOLE_BITS else scan.REAL if type_ in _REALS else others[type_]


def _largest(type_: pa.DataType) -> int:
    """The largest number that becomes a value of this type; of times, in milliseconds."""
    return _MILLISECONDS_MAX if type_ == TIMESTAMP else (1 << (_WHOLE_BITS.get(type_, 64) - 1)) - 1
