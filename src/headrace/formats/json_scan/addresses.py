"""Bytes at addresses, for compiled code.

Functions take addresses, not arrays: an array that is handed on is counted as one more reference, which costs more than
most of them do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from headrace.formats.json_scan.characters import BACKSLASH, CONTROL_END, QUOTE

# How many bytes are looked at in one step.
STEP_BYTES: Final = 16


def _loader(bits: int) -> Callable[[int], int]:
    """A function that reads so many bits at an address."""

    @intrinsic
    def load(_: Any, at: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            return builder.zext(builder.load(place, align=1), ir.IntType(64))

        return types.int64(types.int64), generate

    return cast("Callable[[int], int]", load)


byte_at: Final = _loader(8)
word_at: Final = _loader(32)


@intrinsic
def _counted_inside(_: Any, at: Any) -> Any:
    """How many of the 16 bytes here come before the first quote, backslash or control character."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        sixteen, integer = ir.VectorType(ir.IntType(8), STEP_BYTES), ir.IntType(64)
        content = builder.load(builder.inttoptr(arguments[0], sixteen.as_pointer()), align=1)
        quotes, backslashes, controls = (
            builder.icmp_unsigned(sign, content, ir.Constant(sixteen, [byte] * STEP_BYTES))
            for sign, byte in (("==", QUOTE), ("==", BACKSLASH), ("<", CONTROL_END))
        )
        bits = builder.bitcast(builder.or_(builder.or_(quotes, backslashes), controls), ir.IntType(STEP_BYTES))
        stopped = builder.or_(builder.zext(bits, integer), ir.Constant(integer, 1 << STEP_BYTES))
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
count_inside: Final = cast("Callable[[int], int]", _counted_inside)
store: Final = cast("Callable[[int, int], None]", _stored)
copy: Final = cast("Callable[[int, int, int], None]", _copied)
