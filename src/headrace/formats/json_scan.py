"""Where some fields are in flat JSON objects, found by compiled code that looks at every byte once.

An object counts as plain when it is valid JSON without nesting, escapes or a second value for a wanted field. Of
others nothing is said: they are for a real parser.

Compiling takes seconds, so it is done once for an installation (`python -m headrace.formats.json_scan`) and kept in a
cache file; see `json_glance.is_compiled`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.compiled import compiled

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

ABSENT: Final = 0
NUMBER: Final = 1
TEXT: Final = 2
TRUE: Final = 3
FALSE: Final = 4

_NOWHERE: Final = -1
_QUOTE, _COMMA, _COLON, _OPEN, _CLOSE, _BACKSLASH = (np.uint8(ord(sign)) for sign in '",:{}\\')
_SPACE, _TAB, _MINUS, _PLUS, _POINT, _ZERO, _NINE = (np.uint8(ord(sign)) for sign in " \t-+.09")
_SMALL_E, _LARGE_E, _T, _F, _N = (np.uint8(ord(sign)) for sign in "eEtfn")
_CONTROL_END: Final = np.uint8(0x20)

_TRUE_WORD, _FALSE_WORD, _NULL_WORD = (np.frombuffer(word, np.uint8) for word in (b"true", b"false", b"null"))


class Names(NamedTuple):
    """Name n is content[borders[n]:borders[n + 1]]."""

    content: Bytes
    borders: Integers


class Places(NamedTuple):
    """Where the field of a name (first index) is in an object (second index), and of which kind it is there."""

    kinds: NDArray[np.uint8]
    starts: Integers
    ends: Integers


@compiled
def _byte(data: Bytes, position: int) -> np.uint8:
    """An unsigned index spares the question whether it counts from the end."""
    byte: np.uint8 = data[np.uint64(position)]
    return byte


@compiled
def _after_space(data: Bytes, position: int, end: int) -> int:
    while position < end and (_byte(data, position) == _SPACE or _byte(data, position) == _TAB):
        position += 1
    return position


@compiled
def _after_text(data: Bytes, position: int, end: int) -> int:
    """Behind the quote that ends a text; `position` is behind the one that begins it."""
    for index in range(np.uint64(position), np.uint64(end)):
        byte = data[index]
        if byte == _QUOTE:
            return int(index) + 1
        if byte == _BACKSLASH or byte < _CONTROL_END:
            return _NOWHERE
    return _NOWHERE


@compiled
def _after_digits(data: Bytes, position: int, end: int) -> int:
    first = position
    while position < end and _ZERO <= _byte(data, position) <= _NINE:
        position += 1
    return position if position > first else _NOWHERE


@compiled
def _after_number(data: Bytes, position: int, end: int) -> int:
    if _byte(data, position) == _MINUS:
        position += 1
    first = position
    position = _after_digits(data, position, end)
    if position == _NOWHERE or (_byte(data, first) == _ZERO and position > first + 1):
        return _NOWHERE
    if position < end and _byte(data, position) == _POINT:
        position = _after_digits(data, position + 1, end)
        if position == _NOWHERE:
            return _NOWHERE
    if position < end and (_byte(data, position) == _SMALL_E or _byte(data, position) == _LARGE_E):
        position += 1
        if position < end and (_byte(data, position) == _PLUS or _byte(data, position) == _MINUS):
            position += 1
        position = _after_digits(data, position, end)
    return position


@compiled
def _after_word(data: Bytes, position: int, end: int, word: Bytes) -> int:
    if end - position < len(word):
        return _NOWHERE
    for number in range(len(word)):
        if _byte(data, position + number) != word[number]:
            return _NOWHERE
    return position + len(word)


@compiled
def _after_value(data: Bytes, position: int, end: int) -> tuple[int, int]:
    """Behind a value without nesting, and its kind."""
    if position >= end:
        return _NOWHERE, ABSENT
    byte = _byte(data, position)
    if byte == _QUOTE:
        return _after_text(data, position + 1, end), TEXT
    if byte == _T:
        return _after_word(data, position, end, _TRUE_WORD), TRUE
    if byte == _F:
        return _after_word(data, position, end, _FALSE_WORD), FALSE
    if byte == _N:
        return _after_word(data, position, end, _NULL_WORD), ABSENT
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return _after_number(data, position, end), NUMBER
    return _NOWHERE, ABSENT


@compiled
def _name_number(data: Bytes, start: int, end: int, names: Names) -> int:
    for number in range(len(names.borders) - 1):
        first = names.borders[number]
        if names.borders[number + 1] - first == end - start:
            same = True
            for step in range(end - start):
                if _byte(data, start + step) != names.content[first + step]:
                    same = False
                    break
            if same:
                return number
    return _NOWHERE


@compiled
def find_fields(data: Bytes, borders: Integers, names: Names, places: Places) -> NDArray[np.bool_]:
    """Whether each object is plain. Fills `places` for those that are.

    Object n is data[borders[n]:borders[n + 1]], and must be UTF-8. A text's place is without its quotes.
    """
    kinds, starts, ends = places
    count = len(borders) - 1
    plain = np.zeros(count, np.bool_)
    seen = np.full(len(names.borders) - 1, _NOWHERE, np.int64)
    for row in range(count):
        end = borders[row + 1]
        position = _after_space(data, borders[row], end)
        if position >= end or _byte(data, position) != _OPEN:
            continue
        position = _after_space(data, position + 1, end)
        is_empty = position < end and _byte(data, position) == _CLOSE
        while not is_empty:
            if position >= end or _byte(data, position) != _QUOTE:
                position = _NOWHERE
                break
            name_start = position + 1
            position = _after_text(data, name_start, end)
            if position == _NOWHERE:
                break
            number = _name_number(data, name_start, position - 1, names)
            position = _after_space(data, position, end)
            if position >= end or _byte(data, position) != _COLON:
                position = _NOWHERE
                break
            start = _after_space(data, position + 1, end)
            position, kind = _after_value(data, start, end)
            if position == _NOWHERE:
                break
            if number != _NOWHERE:
                if seen[number] == row:
                    position = _NOWHERE
                    break
                seen[number] = row
                quote = 1 if kind == TEXT else 0
                kinds[number, row], starts[number, row], ends[number, row] = kind, start + quote, position - quote
            position = _after_space(data, position, end)
            if position >= end or _byte(data, position) != _COMMA:
                break
            position = _after_space(data, position + 1, end)
        if position != _NOWHERE and position < end and _byte(data, position) == _CLOSE:
            plain[row] = _after_space(data, position + 1, end) == end
    return plain


@compiled
def gather(data: Bytes, chosen: NDArray[np.bool_], starts: Integers, ends: Integers) -> tuple[Bytes, NDArray[np.int32]]:
    """The bytes of the chosen places one after the other, and the borders between them; others are empty."""
    borders = np.zeros(len(chosen) + 1, np.int32)
    for row in range(len(chosen)):
        borders[row + 1] = borders[row] + (ends[row] - starts[row] if chosen[row] else 0)
    gathered = np.empty(borders[-1], np.uint8)
    for row in range(len(chosen)):
        if chosen[row]:
            gathered[borders[row] : borders[row + 1]] = data[starts[row] : ends[row]]
    return gathered, borders


# The kind of data it will meet (read-only bytes), so that it is compiled or loaded now, and not in every process forked
# from this one.
_NOTHING: Final = Places(np.zeros((1, 0), np.uint8), np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64))
_DATA: Final = np.frombuffer(b"\0", np.uint8)
_PLAIN: Final = find_fields(_DATA, np.zeros(1, np.int64), Names(np.zeros(0, np.uint8), np.zeros(2, np.int64)), _NOTHING)
gather(_DATA, _PLAIN, _NOTHING.starts[0], _NOTHING.ends[0])
