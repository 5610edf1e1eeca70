"""What an operation does with the values of its arguments: arrays, or scalars where they are the same for all rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from headrace.errors import InvalidInput
from headrace.operators.columnar.conversions import CONVERSIONS
from headrace.operators.columnar.letters import lower, upper

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute
_US_PER: Final = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}


def literal_value(type_: str, value: Any) -> Any:
    """A literal out of JSON."""
    return Decimal(value) if value is not None and type_.startswith("DECIMAL") else value


def _checked(operation: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Arithmetic of integers that tells when a result does not fit."""

    def run(*operands: Any) -> Any:
        try:
            return kernel(*operands)
        except pa.ArrowInvalid:
            raise InvalidInput(
                f"the result of {operation} does not fit its type, {operands[0].type}",
                hint="cast an operand to a wider type",
            ) from None

    return run


def _less(left: Any, right: Any) -> Any:
    """To Spark NaN is greater than every number, and equal to itself."""
    found = pc.less(left, right)
    if not _may_be_nan(right):
        return found
    return pc.or_(found, pc.and_(pc.is_nan(right), pc.invert(pc.is_nan(left))))


def _at_most(left: Any, right: Any) -> Any:
    found = pc.less_equal(left, right)
    return pc.or_(found, pc.is_nan(right)) if _may_be_nan(right) else found


def _equal(left: Any, right: Any) -> Any:
    found = pc.equal(left, right)
    if not (_may_be_nan(left) and _may_be_nan(right)):
        return found
    return pc.or_(found, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def _may_be_nan(value: Any) -> bool:
    """No literal is NaN."""
    return pa.types.is_floating(value.type) and isinstance(value, pa.Array)


def _same(left: Any, right: Any) -> Any:
    """Equal, or both null."""
    both = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(both, pc.fill_null(_equal(left, right), False))


def _is_in(value: Any, *items: pa.Scalar[Any]) -> Any:
    known = [item for item in items if item.is_valid]
    found = pc.is_in(value, pa.array([item.as_py() for item in known], value.type))
    null = pa.scalar(None, pa.bool_())
    if len(known) < len(items):
        found = pc.if_else(found, True, null)
    return pc.if_else(pc.is_valid(value), found, null)


def _remainder(left: Any, right: Any) -> Any:
    """With the sign of the dividend, as in Java."""
    return _by_number(np.fmod, left, right)


def _quotient(left: Any, right: Any) -> Any:
    return pc.divide(left, right)


def _by_number(function: Any, *operands: Any) -> Any:
    """A function of numpy. Where an operand is null the result is, whatever lies there."""
    valid = _both_valid(*operands)
    with np.errstate(all="ignore"):
        found = function(*(_numbers(operand) for operand in operands))
    if not isinstance(found, np.ndarray):
        found = np.asarray(found).reshape(1)
    mask = None if valid is None else ~np.broadcast_to(valid, found.shape)
    made = pa.array(found, operands[0].type, mask=mask)
    return made if any(isinstance(operand, pa.Array) for operand in operands) else made[0]


def _numbers(value: Any) -> Any:
    if isinstance(value, pa.Scalar):
        return value.type.to_pandas_dtype()(value.as_py() if value.is_valid else 1)
    return pc.fill_null(value, pa.scalar(1, value.type)).to_numpy(zero_copy_only=False)


def _both_valid(*operands: Any) -> NDArray[np.bool_] | None:
    """None where no operand has a null."""
    found: NDArray[np.bool_] | None = None
    for operand in operands:
        if isinstance(operand, pa.Scalar):
            valid = np.asarray(operand.is_valid)
        elif operand.null_count:
            valid = operand.is_valid().to_numpy(zero_copy_only=False)
        else:
            continue
        found = valid if found is None else found & valid
    return found


def _by_nonzero(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(left: Any, right: Any) -> Any:
        is_zero = pc.and_(pc.equal(right, pa.scalar(0, right.type)), pc.is_valid(left))
        zeros = is_zero.as_py() if isinstance(is_zero, pa.Scalar) else is_zero.true_count
        if zeros:
            raise InvalidInput("division by zero", hint="leave such rows out, or divide by nullif(divisor, 0)")
        return kernel(left, right)

    return run


def _split(text: Any, delimiter: str) -> Any:
    return pc.split_pattern(text, delimiter)


def _get(lists: Any, place: int) -> Any:
    if isinstance(lists, pa.Scalar):
        items = lists.as_py()
        return pa.scalar(items[place] if items is not None and place < len(items) else None, pa.string())
    starts, ends = (bounds.to_numpy() for bounds in (lists.offsets[:-1], lists.offsets[1:]))
    places = starts + place
    is_there = places < ends
    if lists.null_count:
        is_there &= lists.is_valid().to_numpy(zero_copy_only=False)
    return lists.values.take(pa.array(places, mask=~is_there))


def _item(lists: Any, place: int) -> Any:
    found = _get(lists, place)
    is_missing = pc.and_(pc.is_valid(lists), pc.is_null(found))
    missing = is_missing.as_py() if isinstance(is_missing, pa.Scalar) else is_missing.true_count
    if missing:
        raise InvalidInput(f"an array has no item at {place}", hint=f"get(…, {place}) gives null there")
    return found


def _regexp_extract(text: Any, pattern: str) -> Any:
    """Empty where nothing matches."""
    if isinstance(text, pa.Scalar):
        return _regexp_extract(pa.array([text.as_py()], pa.string()), pattern)[0]
    found = pc.extract_regex(text, pattern=pattern).field(0)
    if not text.null_count:
        return found
    return pc.if_else(text.is_valid(), found, pa.scalar(None, pa.string()))


def _since_1970(time: Any) -> Any:
    """Microseconds of a time, as numbers with the nulls as zeros."""
    us = time.cast(pa.int64())
    return pc.fill_null(us, 0).to_numpy(zero_copy_only=False)


def _time_field(field: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(time: Any) -> Any:
        if isinstance(time, pa.Scalar):
            return run(pa.array([time.as_py()], time.type))[0]
        mask = time.is_null().to_numpy(zero_copy_only=False) if time.null_count else None
        return pa.array(field(_since_1970(time)).astype(np.int32), pa.int32(), mask=mask)

    return run


def _dates(us: Any) -> Any:
    # Not from microseconds: numpy takes the earliest of them for no time at all.
    return (us // _US_PER["day"]).astype("datetime64[D]")


def _years(us: Any) -> Any:
    return _dates(us).astype("datetime64[Y]").astype(np.int64) + 1970


def _months(us: Any) -> Any:
    return _dates(us).astype("datetime64[M]").astype(np.int64) % 12 + 1


def _days(us: Any) -> Any:
    return (_dates(us) - _dates(us).astype("datetime64[M]")).astype(np.int64) + 1


_FIELDS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "yyyy": ("day", _years),
    "MM": ("day", _months),
    "dd": ("day", _days),
    "HH": ("hour", lambda us: us // _US_PER["hour"] % 24),
    "mm": ("minute", lambda us: us // _US_PER["minute"] % 60),
    "ss": ("second", lambda us: us // _US_PER["second"] % 60),
}
_FINEST_FIRST: Final = ("second", "minute", "hour", "day")


def _date_format(time: Any, *parts: str) -> Any:
    """Times are few in a batch, to the unit that is written: each is formatted once."""
    if isinstance(time, pa.Scalar):
        return _date_format(pa.array([time.as_py()], time.type), *parts)[0]
    units = {_FIELDS[part][0] for part in parts if part in _FIELDS}
    unit_us = _US_PER[next(unit for unit in _FINEST_FIRST if unit in {*units, "day"})]
    us = _since_1970(time)
    _, firsts, places = np.unique(us // unit_us, return_index=True, return_inverse=True)
    moments = us[firsts]
    columns = [
        [_written(part, number) for number in _FIELDS[part][1](moments).tolist()]
        if part in _FIELDS
        else [part] * len(moments)
        for part in parts
    ]
    texts: Any = pa.array(["".join(pieces) for pieces in zip(*columns, strict=True)], pa.string())
    mask = time.is_null().to_numpy(zero_copy_only=False) if time.null_count else None
    return texts.take(pa.array(places, mask=mask))


def _written(part: str, number: int) -> str:
    if part != "yyyy":
        return f"{number:02d}"
    # A year of more than four digits has a sign, and one before the year 0.
    return f"+{number}" if number > 9999 else f"{number:04d}" if number >= 0 else f"-{-number:04d}"


def _json(names: str, *values: Any) -> Any:
    """A JSON object for each row, without what is null, as Spark writes it."""
    keys: list[str] = json.loads(names)
    count = next((len(value) for value in values if isinstance(value, pa.Array)), 1)
    columns = [value.to_pylist() if isinstance(value, pa.Array) else [value.as_py()] * count for value in values]
    texts = [_json_object(keys, row) for row in zip(*columns, strict=True)]
    found = pa.array(texts, pa.string())
    return found if any(isinstance(value, pa.Array) for value in values) else found[0]


def _json_object(keys: list[str], row: tuple[Any, ...]) -> str:
    known = {key: value for key, value in zip(keys, row, strict=True) if value is not None}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


# Operations that look at all their operands, also where one is null.
LOOK_AT_ALL: Final = frozenset({"<=>", "json!"})
# Operations that look at their second operand first.
BACKWARDS: Final = frozenset({"%", "%!", "/", "/!"})

KERNELS: Final[dict[str, Callable[..., Any]]] = {
    # Every result is brought to the type of its form.
    "cast": lambda value: value,
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "+!": _checked("+", pc.add_checked),
    "-!": _checked("-", pc.subtract_checked),
    "*!": _checked("*", pc.multiply_checked),
    "negate": pc.negate,
    "negate!": _checked("-", pc.negate_checked),
    "%": _remainder,
    "%!": _by_nonzero(_remainder),
    "/": _quotient,
    "/!": _by_nonzero(_quotient),
    "<": _less,
    "<=": _at_most,
    "=": _equal,
    "!=": lambda left, right: pc.invert(_equal(left, right)),
    ">": lambda left, right: _less(right, left),
    ">=": lambda left, right: _at_most(right, left),
    "<=>": _same,
    "in": _is_in,
    "not": pc.invert,
    "is null": pc.is_null,
    "is true": lambda value: pc.fill_null(value, False),
    "length": pc.utf8_length,
    "lower": lower,
    "upper": upper,
    "concat": lambda *texts: pc.binary_join_element_wise(*texts, ""),
    "replace": pc.replace_substring,
    "substring": pc.utf8_slice_codeunits,
    "trim": lambda text: pc.utf8_trim(text, " "),
    "ltrim": lambda text: pc.utf8_ltrim(text, " "),
    "rtrim": lambda text: pc.utf8_rtrim(text, " "),
    "starts with": pc.starts_with,
    "ends with": pc.ends_with,
    "contains": pc.match_substring,
    "like": pc.match_like,
    "split": _split,
    "get": _get,
    "item!": _item,
    "regexp extract": _regexp_extract,
    "hour": _time_field(_FIELDS["HH"][1]),
    "minute": _time_field(_FIELDS["mm"][1]),
    "second": _time_field(_FIELDS["ss"][1]),
    "year": _time_field(_years),
    "month": _time_field(_months),
    "day": _time_field(_days),
    "date format": _date_format,
    # It never raises, and is written one by one: only for rows that want it.
    "json!": _json,
    **CONVERSIONS,
}
