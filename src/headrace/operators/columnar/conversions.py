"""Values of one type as another, one by one, as Spark's CAST does in ANSI mode: exactly, or with an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute

from headrace.errors import InvalidInput
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.types import INTEGERS, decimal_of

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute
Converter: TypeAlias = Callable[[Any], Any]

# What Spark removes around a text before it reads a value.
_AROUND: Final = "".join(map(chr, range(33))) + "\x7f"
_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Java takes digits of any script for a decimal.
_DECIMAL: Final = re.compile(_NUMBER.pattern)
_NO_NUMBERS: Final = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_DATE: Final = r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
_CLOCK: Final = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{0,9}))?)?"
_ZONE: Final = r"(?:Z|UTC|(?P<sign>[+-])(?P<hours>\d{1,2}):(?P<minutes>\d{2}))"
_TIMESTAMP: Final = re.compile(rf"{_DATE}(?:[ T]{_CLOCK} ?{_ZONE}?)?)?)?", re.ASCII)
_DAY: Final = re.compile(rf"{_DATE}(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
_TRUE: Final = ("t", "true", "y", "yes", "1")
_FALSE: Final = ("f", "false", "n", "no", "0")
# Wide enough for every number that is rounded here.
_EXACT: Final = Context(prec=400)


def convert(value: Any, type_: str) -> Any:
    """An array or a scalar in another type. Raises InvalidInput for a value that has none there."""
    if isinstance(value, pa.Scalar):
        return convert(pa.array([value.as_py()], value.type), type_)[0]
    one = converter(value.type, type_)
    if one is None:
        raise InvalidInput(f"no value of {value.type} is {type_}")
    return _array([None if item is None else _named(one, item, type_) for item in _items(value)], type_)


def _items(values: Any) -> list[Any]:
    try:
        return list(values.to_pylist())
    except (ValueError, OverflowError):
        raise InvalidInput("a time beyond the years 1 to 9999", hint="leave such rows out") from None


def _array(values: list[Any], type_: str) -> Any:
    try:
        return pa.array(values, arrow_type(type_))
    except (pa.ArrowInvalid, OverflowError):
        raise InvalidInput(f"a result does not fit {type_}", hint="cast it to a wider type before") from None


def converter(source: pa.DataType, type_: str) -> Converter | None:
    """None where Spark has no such CAST, or where its values are not surely the same here."""
    wanted = "DECIMAL" if decimal_of(type_) else "DOUBLE" if type_ == "FLOAT" else type_
    find = _CONVERTERS.get((_kind(source), "INTEGER" if type_ in INTEGERS else wanted))
    return None if find is None else find(type_)


def _named(one: Converter, item: Any, type_: str) -> Any:
    try:
        return one(item)
    except (ValueError, ArithmeticError) as error:
        shown = repr(item) if isinstance(item, str) else str(item)
        raise InvalidInput(
            f"{shown} is no {type_}", hint="the value must be one of the type's, and in its range"
        ) from error


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_integer(type_):
        return "INTEGER"
    if pa.types.is_floating(type_):
        return "DOUBLE"
    if pa.types.is_decimal(type_):
        return "DECIMAL"
    names: dict[pa.DataType, str] = {pa.string(): "STRING", pa.bool_(): "BOOLEAN", pa.date32(): "DATE"}
    return "TIMESTAMP" if pa.types.is_timestamp(type_) else names.get(type_, "")


def _ranged(type_: str) -> Converter:
    largest = (1 << (_BITS[type_] - 1)) - 1

    def run(value: Any) -> int:
        whole = int(value)
        if not -largest - 1 <= whole <= largest:
            raise ValueError("out of range")
        return whole

    return run


def _whole_of_text(type_: str) -> Converter:
    fit = _ranged(type_)

    def run(text: str) -> int:
        found = _INTEGER.fullmatch(text.strip(_AROUND))
        if found is None:
            raise ValueError("no whole number")
        return int(fit(int(found[0])))

    return run


def _seconds(type_: str) -> Converter:
    fit = _ranged(type_)
    return lambda value: fit((value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1))


def _real_of_text(text: str) -> float:
    plain = text.strip(_AROUND)
    unsigned = plain.lstrip("+-").lower()
    if unsigned in _NO_NUMBERS and len(plain) - len(unsigned) <= 1:
        return -_NO_NUMBERS[unsigned] if plain.startswith("-") else _NO_NUMBERS[unsigned]
    if _NUMBER.fullmatch(plain) is None:
        raise ValueError("no number")
    return float(plain)


def rounded(value: Decimal, scale: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)


def _decimal(type_: str, read: Callable[[Any], Decimal]) -> Converter:
    precision, scale = decimal_of(type_) or (0, 0)

    def run(value: Any) -> Decimal:
        found = rounded(read(value), scale)
        if abs(found) >= Decimal(10) ** (precision - scale):
            raise ValueError("out of range")
        return found

    return run


def _decimal_of_text(text: str) -> Decimal:
    plain = text.strip(_AROUND)
    if _DECIMAL.fullmatch(plain) is None:
        raise InvalidOperation("no number")
    return Decimal(plain)


def _truth_of_text(text: str) -> bool:
    plain = text.strip(_AROUND).lower()
    if plain not in (*_TRUE, *_FALSE):
        raise ValueError("neither true nor false")
    return plain in _TRUE


def _time_of_text(text: str) -> datetime:
    found = _TIMESTAMP.fullmatch(text.strip(_AROUND))
    if found is None:
        raise ValueError("no time")
    micros = int((found["fraction"] or "0").ljust(6, "0")[:6])
    numbers = [int(found[name] or least) for name, least in _FIELDS]
    return datetime(*numbers, micros, tzinfo=_zone(found)).astimezone(UTC)  # type: ignore[misc,arg-type]


_FIELDS: Final = (("year", 1), ("month", 1), ("day", 1), ("hour", 0), ("minute", 0), ("second", 0))


def _zone(found: re.Match[str]) -> timezone:
    if found["sign"] is None:
        return UTC
    ahead = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    return timezone(ahead if found["sign"] == "+" else -ahead)


def _day_of_text(text: str) -> date:
    found = _DAY.fullmatch(text.strip(_AROUND))
    if found is None:
        raise ValueError("no day")
    return date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))


def _time_text(value: datetime) -> str:
    text = f"{value.year:04d}-{value:%m-%d %H:%M:%S}"
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text


def _day_text(value: date) -> str:
    return f"{value.year:04d}-{value:%m-%d}"


def _always(one: Converter) -> Callable[[str], Converter]:
    return lambda _: one


_Found: TypeAlias = dict[tuple[str, str], Callable[[str], Converter]]
_CONVERTERS: Final[_Found] = {
    ("INTEGER", "INTEGER"): _ranged,
    ("DOUBLE", "INTEGER"): _ranged,
    ("DECIMAL", "INTEGER"): _ranged,
    ("BOOLEAN", "INTEGER"): _ranged,
    ("STRING", "INTEGER"): _whole_of_text,
    ("TIMESTAMP", "INTEGER"): _seconds,
    ("INTEGER", "DOUBLE"): _always(float),
    ("DOUBLE", "DOUBLE"): _always(float),
    ("DECIMAL", "DOUBLE"): _always(float),
    ("BOOLEAN", "DOUBLE"): _always(float),
    ("STRING", "DOUBLE"): _always(_real_of_text),
    ("INTEGER", "DECIMAL"): lambda type_: _decimal(type_, Decimal),
    ("DECIMAL", "DECIMAL"): lambda type_: _decimal(type_, Decimal),
    ("DOUBLE", "DECIMAL"): lambda type_: _decimal(type_, lambda value: Decimal(repr(value))),
    ("STRING", "DECIMAL"): lambda type_: _decimal(type_, _decimal_of_text),
    ("INTEGER", "STRING"): _always(str),
    ("BOOLEAN", "STRING"): _always(lambda value: "true" if value else "false"),
    ("DECIMAL", "STRING"): _always(lambda value: format(value, "f")),
    ("DATE", "STRING"): _always(_day_text),
    ("TIMESTAMP", "STRING"): _always(_time_text),
    ("STRING", "STRING"): _always(str),
    ("INTEGER", "BOOLEAN"): _always(bool),
    ("DOUBLE", "BOOLEAN"): _always(bool),
    ("DECIMAL", "BOOLEAN"): _always(bool),
    ("BOOLEAN", "BOOLEAN"): _always(bool),
    ("STRING", "BOOLEAN"): _always(_truth_of_text),
    ("STRING", "TIMESTAMP"): _always(_time_of_text),
    ("TIMESTAMP", "TIMESTAMP"): _always(lambda value: value),
    ("DATE", "TIMESTAMP"): _always(lambda value: datetime.combine(value, time(), UTC)),
    ("STRING", "DATE"): _always(_day_of_text),
    ("DATE", "DATE"): _always(lambda value: value),
    ("TIMESTAMP", "DATE"): _always(lambda value: value.date()),
}


def _each(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one value, and of constants, for all values that are not null."""

    def kernel(value: Any, type_: str, *more: Any) -> Any:
        if isinstance(value, pa.Scalar):
            return kernel(pa.array([value.as_py()], value.type), type_, *more)[0]
        made = [None if item is None else _named(lambda one: run(one, *more), item, type_) for item in _items(value)]
        return _array(made, type_)

    return kernel


def _rounded_real(value: float, scale: int) -> float:
    # A decimal has no zero below zero.
    return float(rounded(Decimal(repr(value)), scale)) + 0.0 if math.isfinite(value) else value


def _shifted(time: Any, us: int) -> Any:
    return pc.add_checked(time.cast(pa.int64()), pa.scalar(us, pa.int64())).cast(time.type)


# For questions about tables; a pipeline's expressions with these are Spark's.
CONVERSIONS: Final[dict[str, Callable[..., Any]]] = {
    "convert!": convert,
    "abs!": _each(abs),
    "round": _each(rounded),
    "round real": _each(_rounded_real),
    "floor": _each(lambda value: int(value.__floor__())),
    "ceil": _each(lambda value: int(value.__ceil__())),
    "floor real!": _each(math.floor),
    "ceil real!": _each(math.ceil),
    "sqrt": _each(lambda value: math.sqrt(value) if value >= 0 else math.nan),
    "unix time": _each(lambda value, us: (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=us)),
    "shift time!": _shifted,
}
