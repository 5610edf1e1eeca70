"""Times in texts, as they are usually written."""

from __future__ import annotations

from typing import Final

from headrace.compiled import compiled
from headrace.formats.json_scan.addresses import byte_at
from headrace.formats.json_scan.characters import COLON, LARGE_T, LARGE_Z, MINUS, PLUS, POINT, SPACE, ZERO
from headrace.formats.json_scan.syntax import NOWHERE, after_digits

_SECONDS_CHARACTERS: Final = 19
_ZONE_CHARACTERS: Final = 6
_MICROSECOND_DIGITS: Final = 6
_NANOSECOND_DIGITS: Final = 9
# Finer times than microseconds are read by the parser as nanoseconds since 1970, in 64 bits, and cut off towards 1970.
_NANOSECOND_YEAR_MIN: Final = 1970
_NANOSECOND_YEAR_MAX: Final = 2261
_DAY_MINUTES: Final = 1440
_NO_DIGITS: Final = 1000


@compiled
def _two_digits(at: int) -> int:
    tens, ones = byte_at(at) - ZERO, byte_at(at + 1) - ZERO
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
    sign, hours, minutes = byte_at(at), _two_digits(at + 1), _two_digits(at + 4)
    if hours > 23 or minutes > 59 or byte_at(at + 3) != COLON or sign not in (PLUS, MINUS):
        return _DAY_MINUTES
    return hours * 60 + minutes if sign == PLUS else -hours * 60 - minutes


@compiled
def _fraction(at: int, end: int, year: int) -> tuple[int, int]:
    """Behind the digits of a second's fraction, and its microseconds."""
    first, fraction = at, 0
    at = after_digits(first, end)
    count = at - first
    is_fine = count > _MICROSECOND_DIGITS
    if at == NOWHERE or count > _NANOSECOND_DIGITS:
        return NOWHERE, 0
    if is_fine and not _NANOSECOND_YEAR_MIN < year < _NANOSECOND_YEAR_MAX:
        return NOWHERE, 0
    for place in range(first, first + _MICROSECOND_DIGITS):
        fraction = fraction * 10 + (byte_at(place) - ZERO if place < at else 0)
    return at, fraction


@compiled
def read_time(at: int, end: int) -> tuple[int, int]:
    """`end` for a text that is a time as times are usually written, and its microseconds since 1970."""
    if end - at < _SECONDS_CHARACTERS:
        return NOWHERE, 0
    century, years, month, day = _two_digits(at), _two_digits(at + 2), _two_digits(at + 5), _two_digits(at + 8)
    hour, minute, second, year = _two_digits(at + 11), _two_digits(at + 14), _two_digits(at + 17), century * 100 + years
    between = byte_at(at + 10)
    if (
        not 1 <= year <= 9999 or years > 99 or not 1 <= month <= 12
        or not 1 <= day <= _month_days(year, month) or hour > 23 or minute > 59 or second > 59
        or byte_at(at + 4) != MINUS or byte_at(at + 7) != MINUS
        or byte_at(at + 13) != COLON or byte_at(at + 16) != COLON
        or between not in (LARGE_T, SPACE)
    ):  # fmt: skip
        return NOWHERE, 0
    seconds = _days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    at, fraction = at + _SECONDS_CHARACTERS, 0
    if at < end and byte_at(at) == POINT:
        at, fraction = _fraction(at + 1, end, year)
    if at not in (NOWHERE, end) and not (byte_at(at) == LARGE_Z and at + 1 == end):
        zone = _zone_minutes(at, end)
        seconds -= zone * 60
        at = NOWHERE if zone == _DAY_MINUTES else at
    return NOWHERE if at == NOWHERE else end, seconds * 1_000_000 + fraction
