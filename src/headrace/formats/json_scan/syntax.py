"""Where the parts of a JSON object end. `at` is where to read, `end` where the object ends; behind what is not plain is
NOWHERE."""

from __future__ import annotations

from typing import Final

from headrace.compiled import compiled
from headrace.formats.json_scan.addresses import STEP_BYTES, byte_at, count_inside, word_at
from headrace.formats.json_scan.characters import (
    BACKSLASH,
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    CONTROL_END,
    LARGE_E,
    LINE,
    MINUS,
    NINE,
    OPEN,
    OPEN_LIST,
    PLUS,
    POINT,
    QUOTE,
    RETURN,
    SMALL_A,
    SMALL_E,
    SMALL_F,
    SMALL_U,
    SPACE,
    TAB,
    ZERO,
)

NOWHERE: Final = -1
# What may stand behind a backslash: what stands for itself, and the letters with what they mean.
_THEMSELVES: Final = tuple(b'"\\/')
_LETTERS: Final = tuple(b"bfnrt")
_MEANINGS: Final = tuple(b"\b\f\n\r\t")
_CODE_CHARACTERS: Final = 6
_TRUE_WORD, _ALSE_WORD, _NULL_WORD = (int.from_bytes(word, "little") for word in (b"true", b"alse", b"null"))

# Within a page, bytes behind the end can be read as well.
_PAGE_BYTES: Final = 4096
# Deeper nesting is for a real parser.
_DEPTH_MAX: Final = 60
# The parser has a largest number; with an exponent of so many digits none is too large.
_EXPONENT_DIGITS_MAX: Final = 2


@compiled
def after_space(at: int, end: int) -> int:
    while at < end:
        byte = byte_at(at)
        if byte > SPACE or byte not in (SPACE, LINE, RETURN, TAB):
            break
        at += 1
    return at


@compiled
def text_stop(at: int, end: int) -> int:
    """Where the next quote, backslash or control character is; `end` where there is none before."""
    while at < end:
        if at & (_PAGE_BYTES - 1) <= _PAGE_BYTES - STEP_BYTES:
            count = count_inside(at)
            if count < STEP_BYTES:
                return min(at + count, end)
            # Not by `count`: so the next step need not wait until this one is counted.
            at += STEP_BYTES
        else:
            byte = byte_at(at)
            if byte in (QUOTE, BACKSLASH) or byte < CONTROL_END:
                return at
            at += 1
    return end


@compiled
def _is_hex(byte: int) -> bool:
    return ZERO <= byte <= NINE or 0x61 <= (byte | 0x20) <= 0x66


@compiled
def _code(at: int, end: int) -> int:
    """What an escape of the form \\u00e4 stands for."""
    if at + _CODE_CHARACTERS > end or byte_at(at) != BACKSLASH or byte_at(at + 1) != SMALL_U:
        return NOWHERE
    code = 0
    for place in range(at + 2, at + _CODE_CHARACTERS):
        byte = byte_at(place)
        if not _is_hex(byte):
            return NOWHERE
        code = code * 16 + (byte - ZERO if byte <= NINE else (byte | 0x20) - SMALL_A + 10)
    return code


@compiled
def character(at: int, end: int) -> tuple[int, int]:
    """Behind an escape, and the character that it stands for. Two surrogates are one escape, alone they are none."""
    byte = byte_at(at + 1) if at + 1 < end else SPACE
    if byte == SMALL_U:
        code = _code(at, end)
        at = NOWHERE if code == NOWHERE else at + _CODE_CHARACTERS
        if code >> 11 == 0xD800 >> 11:
            low = _code(at, end)
            is_pair = code >> 10 == 0xD800 >> 10 and low >> 10 == 0xDC00 >> 10
            return at + _CODE_CHARACTERS if is_pair else NOWHERE, 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
        return at, code
    if byte in _THEMSELVES:
        return at + 2, byte
    for number in range(len(_LETTERS)):
        if byte == _LETTERS[number]:
            return at + 2, _MEANINGS[number]
    return NOWHERE, 0


@compiled
def after_text(at: int, end: int) -> int:
    """Behind the quote that ends a text, escapes or not, from behind the one that begins it."""
    while True:
        at = text_stop(at, end)
        if at >= end:
            return NOWHERE
        byte = byte_at(at)
        if byte == QUOTE:
            return at + 1
        at = character(at, end)[0] if byte == BACKSLASH else NOWHERE
        if at == NOWHERE:
            return NOWHERE


@compiled
def after_digits(at: int, end: int) -> int:
    first = at
    while at < end and ZERO <= byte_at(at) <= NINE:
        at += 1
    return at if at > first else NOWHERE


@compiled
def after_number(at: int, end: int) -> int:
    first = at + 1 if byte_at(at) == MINUS else at
    at = after_digits(first, end)
    if at == NOWHERE or (byte_at(first) == ZERO and at > first + 1):
        return NOWHERE
    if at < end and byte_at(at) == POINT:
        at = after_digits(at + 1, end)
        if at == NOWHERE:
            return NOWHERE
    if at < end and (byte_at(at) == SMALL_E or byte_at(at) == LARGE_E):
        at += 1
        if at < end and (byte_at(at) == PLUS or byte_at(at) == MINUS):
            at += 1
        first = at
        at = after_digits(first, end)
        if at > first + _EXPONENT_DIGITS_MAX:
            return NOWHERE
    return at


@compiled
def after_word(at: int, end: int) -> int:
    """Behind null, true or false."""
    if at + 4 <= end and (word_at(at) == _NULL_WORD or word_at(at) == _TRUE_WORD):
        return at + 4
    return at + 5 if at + 5 <= end and byte_at(at) == SMALL_F and word_at(at + 1) == _ALSE_WORD else NOWHERE


@compiled
def _after_flat(at: int, end: int) -> int:
    """Behind a value without nesting."""
    byte = byte_at(at) if at < end else SPACE
    if byte == QUOTE:
        return after_text(at + 1, end)
    if byte == MINUS or ZERO <= byte <= NINE:
        return after_number(at, end)
    return after_word(at, end)


@compiled
def after_colon(at: int, end: int) -> int:
    """At the value, from behind the name."""
    at = after_space(at, end)
    return after_space(at + 1, end) if at < end and byte_at(at) == COLON else NOWHERE


@compiled
def _after_name(at: int, end: int) -> int:
    """At the value, from the quote before the name."""
    if at >= end or byte_at(at) != QUOTE:
        return NOWHERE
    at = after_text(at + 1, end)
    return NOWHERE if at == NOWHERE else after_colon(at, end)


@compiled
def _after_nested(at: int, end: int) -> int:
    """Behind an object or a list, from its bracket."""
    # One bit for each that is open, the innermost last: set if it is an object.
    opened, depth = 0, 0
    while True:
        byte = byte_at(at) if at < end else SPACE
        begins = byte in (OPEN, OPEN_LIST)
        if begins:
            if depth == _DEPTH_MAX:
                return NOWHERE
            opened, depth = (opened << 1) | (byte == OPEN), depth + 1
            at += 1
        else:
            at = _after_flat(at, end)
            if at == NOWHERE:
                return NOWHERE
        at = after_space(at, end)
        while at < end and byte_at(at) == (CLOSE if opened & 1 else CLOSE_LIST):
            at, opened, depth, begins = at + 1, opened >> 1, depth - 1, False
            if depth == 0:
                return at
            at = after_space(at, end)
        if not begins:
            if at >= end or byte_at(at) != COMMA:
                return NOWHERE
            at = after_space(at + 1, end)
        if opened & 1:
            at = _after_name(at, end)
            if at == NOWHERE:
                return NOWHERE


@compiled
def after_value(at: int, end: int) -> int:
    byte = byte_at(at) if at < end else SPACE
    return _after_nested(at, end) if byte in (OPEN, OPEN_LIST) else _after_flat(at, end)


@compiled
def first_name(at: int, end: int) -> int:
    """At the quote before an object's first name, or at the bracket behind none, from before the object."""
    at = after_space(at, end)
    if at >= end or byte_at(at) != OPEN:
        return NOWHERE
    at = after_space(at + 1, end)
    return at if at < end and (byte_at(at) == QUOTE or byte_at(at) == CLOSE) else NOWHERE


@compiled
def next_name(at: int, end: int) -> int:
    """At the quote before the next name, or at the bracket behind the last value, from behind a value."""
    at = after_space(at, end)
    if at >= end or byte_at(at) != COMMA:
        return at if at < end and byte_at(at) == CLOSE else NOWHERE
    at = after_space(at + 1, end)
    return at if at < end and byte_at(at) == QUOTE else NOWHERE
