"""Event times that are neither ISO 8601 nor epoch milliseconds: epoch seconds, or texts of a pattern.

A pattern has the letters of Java and Spark: `dd.MM.yyyy HH:mm:ss.SSS`, `yyyyMMdd'T'HHmmssXXX`. UTC is meant where it
has no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.errors import InvalidInput
from headrace.formats.decoding import Bad, Decoded, Decoder
from headrace.formats.times import TIMESTAMP
from headrace.formats.value_format import READ_ANYWAY

EPOCH_SECONDS: Final = "epoch_seconds"

_SECONDS_MAX: Final = ((1 << 63) - 1) // 1_000_000
# Letters of a pattern, the longest first: the part of a time that each is, and what it looks like.
_LETTERS: Final = {
    "yyyy": ("year", r"\d{4}"),
    "MM": ("month", r"\d{2}"),
    "M": ("month", r"\d{1,2}"),
    "dd": ("day", r"\d{2}"),
    "d": ("day", r"\d{1,2}"),
    "HH": ("hour", r"\d{2}"),
    "H": ("hour", r"\d{1,2}"),
    "mm": ("minute", r"\d{2}"),
    "m": ("minute", r"\d{1,2}"),
    "ss": ("second", r"\d{2}"),
    "s": ("second", r"\d{1,2}"),
    "XXX": ("zone", r"Z|[+-]\d{2}:\d{2}"),
    "XX": ("zone", r"Z|[+-]\d{4}"),
    "X": ("zone", r"Z|[+-]\d{2}"),
    "Z": ("zone", r"[+-]\d{4}"),
}
_FRACTION_DIGITS_MAX: Final = 6
_PIECE: Final = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([A-Za-z])\3*)|(?P<sign>[^A-Za-z'])")
_NEEDED: Final = ("year", "month", "day")
_VALID: Final = (
    "yyyy",
    "MM",
    "M",
    "dd",
    "d",
    "HH",
    "H",
    "mm",
    "m",
    "ss",
    "s",
    "S … SSSSSS",
    "XXX",
    "XX",
    "X",
    "Z",
    "'text'",
)


def check_time_format(text: str) -> str:
    """Raises InvalidInput unless it is epoch_seconds, one that is read anyway, or a pattern."""
    if text not in (EPOCH_SECONDS, *READ_ANYWAY):
        _expression(text)
    return text


class TimedDecoder:
    """A decoder for one time column that is written in another way. A text that is no such time makes a record bad."""

    def __init__(self, decode: Decoder, wanted: pa.Schema, column: str, written: str) -> None:
        self._decode = decode
        self._place = wanted.get_field_index(column)
        self._field = wanted.field(self._place)
        self._written = written
        self._regex = "" if written == EPOCH_SECONDS else _expression(written)

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        decoded = self._decode(values)
        column = decoded.rows.column(self._place)
        times = _of_seconds(column) if self._written == EPOCH_SECONDS else self._of_texts(column)
        rows = decoded.rows.set_column(self._place, self._field, times)
        unread = np.flatnonzero(pc.and_(times.is_null(), column.is_valid()).to_numpy(zero_copy_only=False))
        return Decoded(rows, decoded.indices, decoded.bad) if not len(unread) else self._without(decoded, rows, unread)

    def _without(self, decoded: Decoded, rows: pa.RecordBatch, unread: Any) -> Decoded:
        """The rows whose time could be read, and the others as bad records."""
        count = rows.num_rows
        indices = np.arange(count) if decoded.indices is None else decoded.indices.to_numpy(zero_copy_only=False)
        texts = decoded.rows.column(self._place)
        bad = [Bad(int(indices[row]), self._reason(texts[int(row)].as_py())) for row in unread]
        kept = np.delete(np.arange(count, dtype=np.int64), unread)
        everything = sorted([*decoded.bad, *bad], key=lambda record: record.index)
        return Decoded(rows.take(kept), pa.array(indices[kept], pa.int64()), tuple(everything))

    def _reason(self, value: object) -> str:
        form = "number of seconds since 1970" if self._written == EPOCH_SECONDS else f"time like {self._written}"
        return f"{self._field.name} is {value!r}, which is no {form}"

    def _of_texts(self, column: pa.Array[Any]) -> pa.Array[Any]:
        """Null where a text is no time."""
        texts = _as_iso(pc.extract_regex(column, self._regex))
        try:
            return _of_iso(texts)
        except pa.ArrowInvalid:
            return pa.concat_arrays([_of_iso_or_null(texts[row : row + 1]) for row in range(len(texts))])


def raw_type(written: str) -> pa.DataType:
    """What a value is read as, before a time is made of it."""
    return pa.float64() if written == EPOCH_SECONDS else pa.string()


def _of_seconds(column: pa.Array[Any]) -> pa.Array[Any]:
    """Null where a number is no time that fits."""
    seconds = column.to_numpy(zero_copy_only=False).astype(np.float64)
    is_time = np.isfinite(seconds) & (np.abs(seconds) < _SECONDS_MAX)
    microseconds = np.round(np.where(is_time, seconds, 0) * 1e6).astype(np.int64)
    return pa.array(microseconds, mask=~is_time).cast(TIMESTAMP)


def _of_iso(texts: pa.Array[Any]) -> pa.Array[Any]:
    return cast("pa.Array[Any]", texts.cast(pa.timestamp("us", tz="UTC")).cast(TIMESTAMP))


def _of_iso_or_null(text: pa.Array[Any]) -> pa.Array[Any]:
    """There are texts with the right letters for no day at all: 31 February."""
    try:
        return _of_iso(text)
    except pa.ArrowInvalid:
        return cast("pa.Array[Any]", pa.nulls(1, TIMESTAMP))


def _as_iso(parts: pa.StructArray) -> pa.Array[Any]:
    """The parts of times as ISO 8601; null where a text did not match."""
    found = {field.name: parts.field(index) for index, field in enumerate(parts.type)}

    def part(name: str) -> Any:
        return pc.utf8_lpad(found[name], 2, "0") if name in found else "00"

    pieces = [found["year"], "-", part("month"), "-", part("day"), "T", part("hour"), ":", part("minute"), ":"]
    pieces += [part("second"), *((".", found["fraction"]) if "fraction" in found else ()), found.get("zone", "Z")]
    joined: Any = pc.binary_join_element_wise(*pieces, "")
    return cast("pa.Array[Any]", pc.if_else(parts.is_valid(), joined, pa.scalar(None, pa.string())))


def _expression(pattern: str) -> str:
    """The regular expression of a pattern, with a group for each part. Raises InvalidInput."""
    seen: list[str] = []
    expression = "".join(_pieces(pattern, seen))
    missing = [part for part in _NEEDED if part not in seen]
    if missing:
        hint = "write epoch_seconds, or a pattern with yyyy, MM and dd"
        raise InvalidInput(f"{pattern!r} has no {missing[0]}, so it is no time", valid=_VALID, hint=hint)
    return f"^{expression}$"


def _pieces(pattern: str, seen: list[str]) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        found = _PIECE.match(pattern, at)
        if found is None:
            raise InvalidInput(f"a ' in {pattern!r} is never closed", hint="write '' for the sign itself")
        at = found.end()
        if found["letters"] is None:
            quoted = found["quoted"]
            yield re.escape("'" if quoted == "" else quoted.replace("''", "'") if quoted is not None else found["sign"])
            continue
        name, form = _letter(pattern, found["letters"])
        if name in seen:
            raise InvalidInput(f"{pattern!r} has two parts for the {name}", hint="each part of a time stands once")
        seen.append(name)
        yield f"(?P<{name}>{form})"


def _letter(pattern: str, letters: str) -> tuple[str, str]:
    if set(letters) == {"S"} and len(letters) <= _FRACTION_DIGITS_MAX:
        return "fraction", rf"\d{{{len(letters)}}}"
    if letters not in _LETTERS:
        hint = "put letters that stand for themselves between ' '"
        raise InvalidInput(f"{letters!r} in {pattern!r} is no part of a time", valid=_VALID, hint=hint)
    return _LETTERS[letters]
