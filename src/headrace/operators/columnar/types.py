"""Spark's rules for the types of operands, with ANSI mode on: as far as Arrow follows them without loss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from math import copysign, isfinite
from typing import Final

from headrace.graph.schema import MAX_DECIMAL_DIGITS
from headrace.operators.columnar.forms import VOID, Form, is_literal, literal

INTEGERS: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
# Types whose values are equal exactly if their bytes are: not numbers with a fraction, of which NaN and -0.0 are odd.
EXACT: Final = (*INTEGERS, "STRING", "BOOLEAN", "DATE", "TIMESTAMP")
# The decimal that holds every number of the type.
_DIGITS: Final = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}
_LARGEST: Final = {"INT": (1 << 31) - 1, "BIGINT": (1 << 63) - 1}
ORDERED: Final = (*INTEGERS, "DOUBLE", "STRING", "BOOLEAN", "TIMESTAMP", "DATE")
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class NotExact(Exception):
    """Raised for what only Spark computes as Spark does."""


def decimal_of(type_: str) -> tuple[int, int] | None:
    """(precision, scale)"""
    found = _DECIMAL.fullmatch(type_)
    return None if found is None else (int(found[1]), int(found[2]))


def decimal_type(precision: int, scale: int) -> str:
    """Raises NotExact beyond the digits that there are: Spark rounds then."""
    if precision > MAX_DECIMAL_DIGITS:
        raise NotExact(f"a decimal of {precision} digits")
    return f"DECIMAL({precision},{scale})"


def is_ordered(type_: str) -> bool:
    """Whether values of the type are compared alike by Spark and Arrow."""
    return type_ in ORDERED or decimal_of(type_) is not None


def number_literal(text: str) -> Form:
    """As Spark reads it: an integer of the type that holds it, a double where it has an exponent, else a decimal."""
    if text.lstrip("-").isdigit():
        value = int(text)
        fitting = [type_ for type_, largest in _LARGEST.items() if -largest - 1 <= value <= largest]
        return literal(fitting[0], value) if fitting else literal(decimal_type(len(text.lstrip("-0")), 0), text)
    if "e" in text.lower():
        return _double(float(text))
    _, digits, exponent = Decimal(text).as_tuple()
    scale = -int(exponent)
    # Leading zeros are no digits to Java; a zero is one digit.
    precision = len("".join(map(str, digits)).lstrip("0")) or 1
    # A decimal has no zero below zero.
    return literal(decimal_type(max(precision, scale), scale), text if Decimal(text) else text.lstrip("-"))


def _double(value: float) -> Form:
    """Raises NotExact for one that is no number, and for the zero below zero, which is equal to the other here."""
    if not isfinite(value) or (value == 0 and copysign(1, value) < 0):
        raise NotExact("no plain double")
    return literal("DOUBLE", value)


def common_type(types: Sequence[str]) -> str:
    """The type that CASE, COALESCE, IN and comparisons bring their operands to. Raises NotExact."""
    return reduce(_wider, types)


def _wider(left: str, right: str) -> str:
    if right in (left, VOID):
        return left
    if left == VOID:
        return right
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=INTEGERS.index)
    if "DOUBLE" in (left, right) and (left in _DIGITS or right in _DIGITS or decimal_of(left) or decimal_of(right)):
        return "DOUBLE"
    (precision, scale), (other_precision, other_scale) = as_decimal(left), as_decimal(right)
    most = max(scale, other_scale)
    return decimal_type(max(precision - scale, other_precision - other_scale) + most, most)


def as_decimal(type_: str) -> tuple[int, int]:
    """(precision, scale) of a number in decimal arithmetic. Raises NotExact for anything else."""
    found = (_DIGITS[type_], 0) if type_ in _DIGITS else decimal_of(type_)
    if found is None:
        raise NotExact(f"{type_} among decimals")
    return found


def for_decimals(form: Form) -> Form:
    """An operand beside a decimal: an integer becomes the decimal that holds it, a literal one of its own digits."""
    if form[1] not in INTEGERS:
        return form
    if is_literal(form) and form[2] is not None:
        return literal(decimal_type(len(str(abs(form[2]))), 0), str(form[2]))
    return cast(form, decimal_type(_DIGITS[form[1]], 0))


def cast(form: Form, type_: str) -> Form:
    """The same values in a type that holds them all, or the nearest double. Raises NotExact for other casts."""
    if form[1] == type_:
        return form
    if is_literal(form) and form[2] is None:
        return literal(type_, None)
    if form[1] in INTEGERS and type_ in INTEGERS and INTEGERS.index(form[1]) < INTEGERS.index(type_):
        return literal(type_, form[2]) if is_literal(form) else ("cast", type_, form)
    if type_ == "DOUBLE":
        if is_literal(form):
            return literal(type_, float(form[2]))
        if form[1] in INTEGERS:
            return ("cast", type_, form)
        raise NotExact("decimals as doubles")
    return _as_decimal(form, type_)


def _as_decimal(form: Form, type_: str) -> Form:
    precision, scale = as_decimal(form[1])
    wanted = decimal_of(type_)
    if wanted is None or wanted[1] < scale or wanted[0] - wanted[1] < precision - scale:
        raise NotExact(f"{form[1]} as {type_}")
    return literal(type_, str(form[2])) if is_literal(form) else ("cast", type_, form)
