"""The values of some fields of JSON objects, found by compiled code that looks at every byte once.

An object counts as plain when it is valid JSON, and what it has of the wanted fields is of their type, written as
usual and not twice. Of others nothing is said: they are for a real parser.

The functions take addresses, not arrays: an array that is handed on is counted as one more reference, which costs more
than most of them do. `at` is where to read, `end` is where the object ends.

Compiling takes seconds, so it is done once for an installation (`python -m headrace.formats.json_scan`) and kept in a
cache file; see `json_plain.is_compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from headrace.compiled import compiled

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# By field and object: whether it has a value; the number, or where the text begins; where that ends, less than zero if
# there are escapes in it.
Found = tuple[Flags, Integers, Integers]
# What is behind a value; the number that it is, or where its text begins; where that ends; how it is written.
Value = tuple[int, int, int, int]

# What a field is to be. Of texts and of numbers with a point, only the place is told.
WHOLE: Final = 0
TIME: Final = 1
BOOLEAN: Final = 2
TEXT: Final = 3
REAL: Final = 4

# How a value is written; and how an object writes its times: both ways in one are not plain.
TEXT_TIME: Final = 1
NUMBER_TIME: Final = 2
_BOTH_TIMES: Final = 3
_IS_NULL: Final = 4

BUCKET_COUNT: Final = 256

_NOWHERE: Final = -1
_QUOTE, _COMMA, _COLON, _OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST, _BACKSLASH = b'",:{}[]\\'
_SPACE, _TAB, _LINE, _RETURN, _MINUS, _PLUS, _POINT, _ZERO, _NINE = b" \t\n\r-+.09"
_SMALL_A, _SMALL_E, _LARGE_E, _T, _F, _N, _U, _LARGE_T, _LARGE_Z = b"aeEtfnuTZ"
_CONTROL_END: Final = 0x20
# What may stand behind a backslash: what stands for itself, and the letters with what they mean.
_THEMSELVES: Final = tuple(b'"\\/')
_LETTERS: Final = tuple(b"bfnrt")
_MEANINGS: Final = tuple(b"\b\f\n\r\t")
_CODE_CHARACTERS: Final = 6
_TRUE_WORD, _ALSE_WORD, _NULL_WORD = (int.from_bytes(word, "little") for word in (b"true", b"alse", b"null"))

_STEP_BYTES: Final = 16
# Within a page, bytes behind the end can be read as well.
_PAGE_BYTES: Final = 4096
# Deeper nesting is for a real parser.
_DEPTH_MAX: Final = 60
# The parser has a largest number; with an exponent of so many digits none is too large.
_EXPONENT_DIGITS_MAX: Final = 2
# So many digits fit into 64 bits, whichever they are; more than 63 bits make a number below zero.
_DIGITS_MAX: Final = 19
# Longer ones are for a real parser: no double needs as many.
_REAL_CHARACTERS_MAX: Final = 40

_SECONDS_CHARACTERS: Final = 19
_ZONE_CHARACTERS: Final = 6
_MICROSECOND_DIGITS: Final = 6
_NANOSECOND_DIGITS: Final = 9
# Finer times than microseconds are read by the parser as nanoseconds since 1970, in 64 bits, and cut off towards 1970.
_NANOSECOND_YEAR_MIN: Final = 1970
_NANOSECOND_YEAR_MAX: Final = 2261
_DAY_MINUTES: Final = 1440
_NO_DIGITS: Final = 1000


class Fields(NamedTuple):
    """Name n has the bytes from starts[n] to ends[n]; what it is to be is kinds[n], a number from lows[n] to highs[n].

    The first name of a bucket is firsts[bucket], the one after name n is nexts[n], -1 where there is none.
    """

    starts: Integers
    ends: Integers
    kinds: Integers
    lows: Integers
    highs: Integers
    firsts: Integers
    nexts: Integers


def name_bucket(name: bytes) -> int:
    """As `_bucket` has it."""
    return (len(name) + 3 * (name[0] + 5 * name[-1] if name else 0)) % BUCKET_COUNT


def _loader(bits: int) -> Callable[[int], int]:
    """A function that reads so many bits at an address."""

    @intrinsic
    def load(_: Any, at: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            return builder.zext(builder.load(place, align=1), ir.IntType(64))

        return types.int64(types.int64), generate

    return cast("Callable[[int], int]", load)


_byte: Final = _loader(8)
_word: Final = _loader(32)


@intrinsic
def _counted_inside(_: Any, at: Any) -> Any:
    """How many of the 16 bytes here come before the first quote, backslash or control character."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        sixteen, integer = ir.VectorType(ir.IntType(8), _STEP_BYTES), ir.IntType(64)
        content = builder.load(builder.inttoptr(arguments[0], sixteen.as_pointer()), align=1)
        quotes, backslashes, controls = (
            builder.icmp_unsigned(sign, content, ir.Constant(sixteen, [byte] * _STEP_BYTES))
            for sign, byte in (("==", _QUOTE), ("==", _BACKSLASH), ("<", _CONTROL_END))
        )
        bits = builder.bitcast(builder.or_(builder.or_(quotes, backslashes), controls), ir.IntType(_STEP_BYTES))
        stopped = builder.or_(builder.zext(bits, integer), ir.Constant(integer, 1 << _STEP_BYTES))
        return builder.cttz(stopped, ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def _stored(_: Any, at: Any, byte: Any) -> Any:
    """Writes a byte to an address."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        builder.store(builder.trunc(arguments[1], ir.IntType(8)), place)

    return types.void(types.int64, types.int64), generate


@intrinsic
def _copied(_: Any, source: Any, target: Any, count: Any) -> Any:
    """Copies so many bytes from one address to another."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        source, target = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in arguments[:2])
        cast("Any", cgutils.raw_memcpy)(builder, target, source, arguments[2], 1)

    return types.void(types.int64, types.int64, types.int64), generate


# As they are called in compiled code.
_inside: Final = cast("Callable[[int], int]", _counted_inside)
_store: Final = cast("Callable[[int, int], None]", _stored)
_copy: Final = cast("Callable[[int, int, int], None]", _copied)


@compiled
def _after_space(at: int, end: int) -> int:
    while at < end:
        byte = _byte(at)
        if byte > _SPACE or byte not in (_SPACE, _LINE, _RETURN, _TAB):
            break
        at += 1
    return at


@compiled
def _text_stop(at: int, end: int) -> int:
    """Where the next quote, backslash or control character is; `end` where there is none before."""
    while at < end:
        if at & (_PAGE_BYTES - 1) <= _PAGE_BYTES - _STEP_BYTES:
            count = _inside(at)
            if count < _STEP_BYTES:
                return min(at + count, end)
            # Not by `count`: so the next step need not wait until this one is counted.
            at += _STEP_BYTES
        else:
            byte = _byte(at)
            if byte in (_QUOTE, _BACKSLASH) or byte < _CONTROL_END:
                return at
            at += 1
    return end


@compiled
def _is_hex(byte: int) -> bool:
    return _ZERO <= byte <= _NINE or 0x61 <= (byte | 0x20) <= 0x66


@compiled
def _code(at: int, end: int) -> int:
    """What an escape of the form \\u00e4 stands for."""
    if at + _CODE_CHARACTERS > end or _byte(at) != _BACKSLASH or _byte(at + 1) != _U:
        return _NOWHERE
    code = 0
    for place in range(at + 2, at + _CODE_CHARACTERS):
        byte = _byte(place)
        if not _is_hex(byte):
            return _NOWHERE
        code = code * 16 + (byte - _ZERO if byte <= _NINE else (byte | 0x20) - _SMALL_A + 10)
    return code


@compiled
def _character(at: int, end: int) -> tuple[int, int]:
    """Behind an escape, and the character that it stands for. Two surrogates are one escape, alone they are none."""
    byte = _byte(at + 1) if at + 1 < end else _SPACE
    if byte == _U:
        code = _code(at, end)
        at = _NOWHERE if code == _NOWHERE else at + _CODE_CHARACTERS
        if code >> 11 == 0xD800 >> 11:
            low = _code(at, end)
            is_pair = code >> 10 == 0xD800 >> 10 and low >> 10 == 0xDC00 >> 10
            return at + _CODE_CHARACTERS if is_pair else _NOWHERE, 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
        return at, code
    if byte in _THEMSELVES:
        return at + 2, byte
    for number in range(len(_LETTERS)):
        if byte == _LETTERS[number]:
            return at + 2, _MEANINGS[number]
    return _NOWHERE, 0


@compiled
def _after_text(at: int, end: int) -> int:
    """Behind the quote that ends a text, escapes or not, from behind the one that begins it."""
    while True:
        at = _text_stop(at, end)
        if at >= end:
            return _NOWHERE
        byte = _byte(at)
        if byte == _QUOTE:
            return at + 1
        at = _character(at, end)[0] if byte == _BACKSLASH else _NOWHERE
        if at == _NOWHERE:
            return _NOWHERE


@compiled
def _after_digits(at: int, end: int) -> int:
    first = at
    while at < end and _ZERO <= _byte(at) <= _NINE:
        at += 1
    return at if at > first else _NOWHERE


@compiled
def _after_number(at: int, end: int) -> int:
    first = at + 1 if _byte(at) == _MINUS else at
    at = _after_digits(first, end)
    if at == _NOWHERE or (_byte(first) == _ZERO and at > first + 1):
        return _NOWHERE
    if at < end and _byte(at) == _POINT:
        at = _after_digits(at + 1, end)
        if at == _NOWHERE:
            return _NOWHERE
    if at < end and (_byte(at) == _SMALL_E or _byte(at) == _LARGE_E):
        at += 1
        if at < end and (_byte(at) == _PLUS or _byte(at) == _MINUS):
            at += 1
        first = at
        at = _after_digits(first, end)
        if at > first + _EXPONENT_DIGITS_MAX:
            return _NOWHERE
    return at


@compiled
def _after_word(at: int, end: int) -> int:
    """Behind null, true or false."""
    if at + 4 <= end and (_word(at) == _NULL_WORD or _word(at) == _TRUE_WORD):
        return at + 4
    return at + 5 if at + 5 <= end and _byte(at) == _F and _word(at + 1) == _ALSE_WORD else _NOWHERE


@compiled
def _after_flat(at: int, end: int) -> int:
    """Behind a value without nesting."""
    byte = _byte(at) if at < end else _SPACE
    if byte == _QUOTE:
        return _after_text(at + 1, end)
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return _after_number(at, end)
    return _after_word(at, end)


@compiled
def _after_colon(at: int, end: int) -> int:
    """At the value, from behind the name."""
    at = _after_space(at, end)
    return _after_space(at + 1, end) if at < end and _byte(at) == _COLON else _NOWHERE


@compiled
def _after_name(at: int, end: int) -> int:
    """At the value, from the quote before the name."""
    if at >= end or _byte(at) != _QUOTE:
        return _NOWHERE
    at = _after_text(at + 1, end)
    return _NOWHERE if at == _NOWHERE else _after_colon(at, end)


@compiled
def _after_nested(at: int, end: int) -> int:
    """Behind an object or a list, from its bracket."""
    # One bit for each that is open, the innermost last: set if it is an object.
    opened, depth = 0, 0
    while True:
        byte = _byte(at) if at < end else _SPACE
        begins = byte in (_OPEN, _OPEN_LIST)
        if begins:
            if depth == _DEPTH_MAX:
                return _NOWHERE
            opened, depth = (opened << 1) | (byte == _OPEN), depth + 1
            at += 1
        else:
            at = _after_flat(at, end)
            if at == _NOWHERE:
                return _NOWHERE
        at = _after_space(at, end)
        while at < end and _byte(at) == (_CLOSE if opened & 1 else _CLOSE_LIST):
            at, opened, depth, begins = at + 1, opened >> 1, depth - 1, False
            if depth == 0:
                return at
            at = _after_space(at, end)
        if not begins:
            if at >= end or _byte(at) != _COMMA:
                return _NOWHERE
            at = _after_space(at + 1, end)
        if opened & 1:
            at = _after_name(at, end)
            if at == _NOWHERE:
                return _NOWHERE


@compiled
def _after_value(at: int, end: int) -> int:
    byte = _byte(at) if at < end else _SPACE
    return _after_nested(at, end) if byte in (_OPEN, _OPEN_LIST) else _after_flat(at, end)


@compiled
def _bucket(start: int, end: int) -> int:
    length = end - start
    return (length + 3 * (_byte(start) + 5 * _byte(end - 1) if length else 0)) % BUCKET_COUNT


@compiled
def _is_same(at: int, end: int, other_at: int, other_end: int) -> bool:
    if end - at != other_end - other_at:
        return False
    while at < end and _byte(at) == _byte(other_at):
        at += 1
        other_at += 1
    return at == end


@compiled
def _whole(at: int, end: int) -> tuple[int, int]:
    """Behind a number without a point, and the number."""
    is_negative = _byte(at) == _MINUS
    first = at + 1 if is_negative else at
    at, size = first, 0
    while at < end and _ZERO <= _byte(at) <= _NINE:
        size = size * 10 + _byte(at) - _ZERO
        at += 1
    count = at - first
    if count == 0 or count > _DIGITS_MAX or size < 0 or (count > 1 and _byte(first) == _ZERO):
        return _NOWHERE, 0
    return at, -size if is_negative else size


@compiled
def _two_digits(at: int) -> int:
    tens, ones = _byte(at) - _ZERO, _byte(at + 1) - _ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else _NO_DIGITS


@compiled
def _month_days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 + ((month + (month >> 3)) & 1)


@compiled
def _days(year: int, month: int, day: int) -> int:
    """Since 1970, in the calendar of today. Years are counted from March here, so that a leap day comes last."""
    years = year - 1 if month <= 2 else year
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * years + years // 4 - years // 100 + years // 400 + of_year - 719_468


@compiled
def _zone_minutes(at: int, end: int) -> int:
    """How far a zone written as +01:00 is ahead of UTC; a day for other writings."""
    if end - at != _ZONE_CHARACTERS:
        return _DAY_MINUTES
    sign, hours, minutes = _byte(at), _two_digits(at + 1), _two_digits(at + 4)
    if hours > 23 or minutes > 59 or _byte(at + 3) != _COLON or sign not in (_PLUS, _MINUS):
        return _DAY_MINUTES
    return hours * 60 + minutes if sign == _PLUS else -hours * 60 - minutes


@compiled
def _fraction(at: int, end: int, year: int) -> tuple[int, int]:
    """Behind the digits of a second's fraction, and its microseconds."""
    first, fraction = at, 0
    at = _after_digits(first, end)
    count = at - first
    is_fine = count > _MICROSECOND_DIGITS
    if at == _NOWHERE or count > _NANOSECOND_DIGITS:
        return _NOWHERE, 0
    if is_fine and not _NANOSECOND_YEAR_MIN < year < _NANOSECOND_YEAR_MAX:
        return _NOWHERE, 0
    for place in range(first, first + _MICROSECOND_DIGITS):
        fraction = fraction * 10 + (_byte(place) - _ZERO if place < at else 0)
    return at, fraction


@compiled
def _time(at: int, end: int) -> tuple[int, int]:
    """`end` for a text that is a time as times are usually written, and its microseconds since 1970."""
    if end - at < _SECONDS_CHARACTERS:
        return _NOWHERE, 0
    century, years, month, day = _two_digits(at), _two_digits(at + 2), _two_digits(at + 5), _two_digits(at + 8)
    hour, minute, second, year = _two_digits(at + 11), _two_digits(at + 14), _two_digits(at + 17), century * 100 + years
    between = _byte(at + 10)
    if (
        not 1 <= year <= 9999 or years > 99 or not 1 <= month <= 12
        or not 1 <= day <= _month_days(year, month) or hour > 23 or minute > 59 or second > 59
        or _byte(at + 4) != _MINUS or _byte(at + 7) != _MINUS
        or _byte(at + 13) != _COLON or _byte(at + 16) != _COLON
        or between not in (_LARGE_T, _SPACE)
    ):  # fmt: skip
        return _NOWHERE, 0
    seconds = _days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    at, fraction = at + _SECONDS_CHARACTERS, 0
    if at < end and _byte(at) == _POINT:
        at, fraction = _fraction(at + 1, end, year)
    if at not in (_NOWHERE, end) and not (_byte(at) == _LARGE_Z and at + 1 == end):
        zone = _zone_minutes(at, end)
        seconds -= zone * 60
        at = _NOWHERE if zone == _DAY_MINUTES else at
    return _NOWHERE if at == _NOWHERE else end, seconds * 1_000_000 + fraction


@compiled
def _take_text(at: int, end: int, kind: int) -> Value:
    """From behind the quote."""
    stop = _text_stop(at, end)
    if kind == TEXT:
        after = _after_text(stop, end)
        return after, at, stop if after == stop + 1 else 1 - after, 0
    if kind != TIME or stop >= end or _byte(stop) != _QUOTE:
        return _NOWHERE, 0, 0, 0
    after, time = _time(at, stop)
    return _NOWHERE if after == _NOWHERE else stop + 1, time, 0, TEXT_TIME


@compiled
def _take_number(at: int, end: int, kind: int, low: int, high: int) -> Value:
    if kind == REAL:
        after = _after_number(at, end)
        return after if after - at <= _REAL_CHARACTERS_MAX else _NOWHERE, at, after, 0
    after, number = _whole(at, end)
    if not low <= number <= high:
        return _NOWHERE, 0, 0, 0
    if kind == TIME:
        return after, number * 1000, 0, NUMBER_TIME
    return after if kind == WHOLE else _NOWHERE, number, 0, 0


@compiled
def _take_value(at: int, end: int, kind: int, low: int, high: int) -> Value:
    byte = _byte(at) if at < end else _SPACE
    if byte == _QUOTE:
        return _take_text(at + 1, end, kind)
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return _take_number(at, end, kind, low, high)
    if byte == _N:
        return _after_word(at, end), 0, 0, _IS_NULL
    return _after_word(at, end) if kind == BOOLEAN else _NOWHERE, int(byte == _T), 0, 0


@compiled
def _first_name(at: int, end: int) -> int:
    """At the quote before an object's first name, or at the bracket behind none, from before the object."""
    at = _after_space(at, end)
    if at >= end or _byte(at) != _OPEN:
        return _NOWHERE
    at = _after_space(at + 1, end)
    return at if at < end and (_byte(at) == _QUOTE or _byte(at) == _CLOSE) else _NOWHERE


@compiled
def _next_name(at: int, end: int) -> int:
    """At the quote before the next name, or at the bracket behind the last value, from behind a value."""
    at = _after_space(at, end)
    if at >= end or _byte(at) != _COMMA:
        return at if at < end and _byte(at) == _CLOSE else _NOWHERE
    at = _after_space(at + 1, end)
    return at if at < end and _byte(at) == _QUOTE else _NOWHERE


@compiled
def find_values(borders: Integers, fields: tuple[Integers, ...], found: Found) -> tuple[Flags, int]:
    """Whether each object is plain, and how the last one that has times writes them.

    Object n is from the address borders[n] to borders[n + 1], and must be UTF-8. `fields` are a Fields as a
    tuple without a name: for the cache, that of a module run as a script is another one. Fills `found` for plain
    objects; nothing in it is valid before.
    """
    name_starts, name_ends, kinds, lows, highs, firsts, nexts = fields
    valid, numbers, ends = found
    count = len(borders) - 1
    plain = np.zeros(count, np.bool_)
    seen = np.full(len(kinds), _NOWHERE, np.int64)
    last_times = 0
    for row in range(count):
        end = borders[row + 1]
        at = _first_name(borders[row], end)
        times = 0
        while at != _NOWHERE and _byte(at) == _QUOTE:
            name, stop = at + 1, _text_stop(at + 1, end)
            at = _after_colon(stop + 1, end) if stop < end and _byte(stop) == _QUOTE else _NOWHERE
            if at == _NOWHERE:
                break
            number = firsts[_bucket(name, stop)]
            while number != _NOWHERE and not _is_same(name, stop, name_starts[number], name_ends[number]):
                number = nexts[number]
            if number == _NOWHERE:
                at = _after_value(at, end)
            else:
                at, numbers[number, row], ends[number, row], written = _take_value(
                    at, end, kinds[number], lows[number], highs[number]
                )
                valid[number, row] = not written & _IS_NULL
                times |= written & _BOTH_TIMES
                if seen[number] == row or times == _BOTH_TIMES:
                    at = _NOWHERE
                seen[number] = row
            if at != _NOWHERE:
                at = _next_name(at, end)
        if at != _NOWHERE and _after_space(at + 1, end) == end:
            plain[row] = True
            last_times = times or last_times
    return plain, last_times


@compiled
def _write_character(at: int, code: int) -> int:
    """Behind the character, written as UTF-8."""
    if code < 0x80:
        _store(at, code)
        return at + 1
    size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    _store(at, (0xF00 >> size & 0xFF) | code >> 6 * (size - 1))
    for place in range(1, size):
        _store(at + place, 0x80 | (code >> 6 * (size - 1 - place) & 0x3F))
    return at + size


@compiled
def _write_text(target: int, at: int, end: int) -> int:
    """Behind a text with escapes, written to `target` without them."""
    while at < end:
        stop = _text_stop(at, end)
        _copy(at, target, stop - at)
        target += stop - at
        at = stop
        if at < end:
            at, code = _character(at, end)
            target = _write_character(target, code)
    return target


@compiled
def gather(
    rows: Integers, valid: Flags, starts: Integers, ends: Integers
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The texts of these rows one after the other, and the borders between them; one that is not valid is empty."""
    size = 0
    for row in rows:
        size += abs(ends[row]) - starts[row] if valid[row] else 0
    # No escape is shorter than what it stands for.
    gathered = np.empty(size, np.uint8)
    borders = np.zeros(len(rows) + 1, np.int32)
    base = target = int(gathered.ctypes.data)
    for index in range(len(rows)):
        row = rows[index]
        if valid[row] and ends[row] < 0:
            target = _write_text(target, starts[row], -ends[row])
        elif valid[row]:
            length = int(ends[row] - starts[row])
            _copy(starts[row], target, length)
            target += length
        borders[index + 1] = target - base
    return gathered[: target - base], borders


# The kinds of arrays that it will meet, so that it is compiled or loaded now, not in every process forked from here.
_NONE: Final = np.zeros(0, np.int64)
_NOTHING: Final = (np.zeros((0, 0), np.bool_), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64))
find_values(np.zeros(1, np.int64), (_NONE,) * len(Fields._fields), _NOTHING)
gather(_NONE, _NOTHING[0].ravel(), _NONE, _NONE)
