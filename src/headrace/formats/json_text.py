"""Rows as JSON texts, made by column: the same that `json_rows` makes of them in Spark's plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headrace.formats.times import TIMESTAMP

_TYPES: Final = frozenset(
    {pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float64(), pa.string(), TIMESTAMP}
)
# Java writes doubles from here to there without an exponent.
_PLAIN_FROM: Final = 1e-3
_PLAIN_TO: Final = 1e7
_CONTROL_END: Final = 0x20
# 2026-01-01 00:00:00.000: all times of years with four digits.
_TIME_CHARACTERS: Final = 23
_DATE_CHARACTERS: Final = 10
_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u{code:04X}" for code in range(0x20)}
    | {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
)
_NULL: Final = "null"


def can_write(columns: pa.Schema) -> bool:
    return all(field.type in _TYPES or pa.types.is_decimal128(field.type) for field in columns)


def json_texts(rows: pa.RecordBatch) -> pa.Array[Any]:
    """One JSON object for each row. Called only for columns that it `can_write`."""
    if not rows.num_columns:
        return pa.repeat(pa.scalar("{}"), rows.num_rows)
    pieces: list[Any] = []
    literal = "{"
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        text, before, behind = _text(column)
        pieces += [f'{literal}"{name.translate(_ESCAPES)}":{before}', text]
        literal = f"{behind},"
    return _joined(*pieces, literal.removesuffix(",") + "}")


def json_arrays(columns: Sequence[pa.Array[Any]]) -> pa.Array[Any]:
    """One JSON array for each row, of its texts in the columns; null where one of them is."""
    texts = [piece for column in columns for piece in ('","', _strings(column))]
    return _joined('["', *texts[1:], '"]')


def _joined(*pieces: pa.Array[Any] | str) -> pa.Array[Any]:
    return cast("Any", pc.binary_join_element_wise)(*pieces, "")  # type: ignore[no-any-return]


def _text(column: pa.Array[Any]) -> tuple[pa.Array[Any], str, str]:
    """The column as JSON, and what belongs before and behind each value."""
    before, behind = "", ""
    if pa.types.is_string(column.type):
        text, before, behind = _strings(column), '"', '"'
    elif column.type == TIMESTAMP:
        text, before, behind = _times(column), '"', 'Z"'
    else:
        text = _doubles(column) if pa.types.is_floating(column.type) else column.cast(pa.string())
    if column.null_count and before:
        # A null has no quotes, so here they cannot stand around the column.
        text, before, behind = _joined(before, text, behind), "", ""
    return (pc.fill_null(text, cast("Any", _NULL)) if column.null_count else text), before, behind


def _strings(column: pa.Array[Any]) -> pa.Array[Any]:
    if not _must_escape(_content(column)):
        return column
    return pa.array([None if text is None else text.translate(_ESCAPES) for text in column.to_pylist()], pa.string())


def _content(column: pa.Array[Any]) -> NDArray[np.uint8]:
    """The bytes of all texts, one behind the other."""
    offsets, content = column.buffers()[1:]
    if content is None or offsets is None:
        return np.zeros(0, np.uint8)
    borders = np.frombuffer(cast("Any", offsets), np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(cast("Any", content), np.uint8)[borders[0] : borders[-1]]


def _must_escape(content: NDArray[np.uint8]) -> bool:
    """Each question is asked of many bytes at once, which a table cannot do."""
    has_sign = (content == ord('"')).any() or (content == ord("\\")).any()
    return bool(has_sign or (content < _CONTROL_END).any())


def _times(column: pa.Array[Any]) -> pa.Array[Any]:
    """ISO 8601 without the zone, which is UTC: to the millisecond, and to the microsecond where there are some."""
    us = column.cast(pa.int64()).cast(pa.timestamp("us"))
    ms = cast("Any", pc.floor_temporal)(us, unit="millisecond")
    text = _with_t(ms.cast(pa.timestamp("ms")).cast(pa.string()))
    is_whole = pc.equal(us, ms)
    if pc.all(is_whole, min_count=0).as_py():
        return text
    fine = pc.replace_substring(us.cast(pa.string()), " ", "T", max_replacements=1)
    return cast("pa.Array[Any]", pc.if_else(is_whole, text, fine))


def _with_t(text: pa.Array[Any]) -> pa.Array[Any]:
    """Times to the millisecond, with the sign between date and time that ISO 8601 wants."""
    content = _content(text)
    # None is shorter than a usual one: if they are so many together, all are usual.
    if text.null_count or text.offset or len(content) != _TIME_CHARACTERS * len(text):
        return pc.replace_substring(text, " ", "T", max_replacements=1)
    changed = content.reshape(-1, _TIME_CHARACTERS).copy()
    changed[:, _DATE_CHARACTERS] = ord("T")
    return pa.StringArray.from_buffers(len(text), cast("Any", text.buffers()[1]), pa.py_buffer(cast("Any", changed)))


def _doubles(column: pa.Array[Any]) -> pa.Array[Any]:
    """Always with a point; Arrow writes whole numbers without."""
    values = column.to_numpy(zero_copy_only=False)
    text: pa.Array[Any] = column.cast(pa.string())
    sizes = np.abs(values)
    is_plain = ((sizes >= _PLAIN_FROM) & (sizes < _PLAIN_TO)) | (values == 0)
    if column.null_count:
        is_plain |= column.is_null().to_numpy(zero_copy_only=False)
    is_whole = is_plain & (values == np.trunc(values))
    if is_whole.any():
        pointed = _joined(text.filter(pa.array(is_whole)), ".0")
        text = cast("pa.Array[Any]", pc.replace_with_mask(text, pa.array(is_whole), pointed))
    return text if is_plain.all() else _with_rare(text, values, ~is_plain)


def _with_rare(text: pa.Array[Any], values: NDArray[np.float64], rare: NDArray[np.bool_]) -> pa.Array[Any]:
    """With the numbers in their places that are very large or small, or none at all."""
    texts = pa.array([_rare(value) for value in values[rare].tolist()], pa.string())
    return cast("pa.Array[Any]", pc.replace_with_mask(text, pa.array(rare), texts))


def _rare(value: float) -> str:
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    digits, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        # Python writes up to 16 digits before the point, and down to four zeros behind it.
        shortest = np.format_float_scientific(value, trim="-")
        digits, _, exponent = shortest.partition("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
