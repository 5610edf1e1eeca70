"""Keys as rows of 64-bit words that are equal exactly if the keys are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_FLOATS = (pa.float32(), pa.float64())
# What no key has that was seen before.
_UNKNOWN = -1
# Values are forgotten when there are more than these, and more than twice as many as keys.
_VALUES_MIN = 1_024


class KeyWords:
    """One word for each column, and behind them one that says which columns are null. Whole numbers and times are their
    own words; numbers with a fraction are by their bits, with one zero and one NaN.

    Texts and the like are numbered as they come; the numbers are no part of what is written down.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, dict[Hashable, int]] = {}
        self._values: dict[int, list[Hashable]] = {}

    def of(self, keys: Sequence[pa.Array[Any]], *, remember: bool) -> Integers:
        """The words of these keys; without columns there is one key. Values that are new are numbered, if they are to
        be remembered."""
        row_count = len(keys[0]) if keys else 1
        words = np.zeros((row_count, len(keys) + 1), np.int64)
        for place, column in enumerate(keys):
            if column.null_count:
                is_null = column.is_null().to_numpy(zero_copy_only=False)
                words[:, -1] |= is_null.astype(np.int64) << place
            words[:, place] = _numbers(column) if _is_whole(column.type) else self._numbered(place, column, remember)
        return words

    def columns(self, words: Integers, types: Sequence[pa.DataType]) -> list[pa.Array[Any]]:
        """The way back."""
        return [
            self._column(words[:, place], words[:, -1] >> place & 1 == 1, place, type_)
            for place, type_ in enumerate(types)
        ]

    def forget(self, stored: Integers, living: Integers) -> bool:
        """Lets go of values that no living key has, if they are many. Returns whether words have changed by that."""
        has_changed = False
        for place, values in self._values.items():
            if len(values) > max(_VALUES_MIN, 2 * len(living)):
                kept, stored[living, place] = np.unique(stored[living, place], return_inverse=True)
                self._values[place] = [values[number] for number in kept.tolist()]
                self._numbers[place] = {value: number for number, value in enumerate(self._values[place])}
                has_changed = True
        return has_changed

    def _numbered(self, place: int, column: pa.Array[Any], remember: bool) -> Integers:
        """Each value is looked at once, however many rows have it."""
        encoded = column.dictionary_encode()
        known, values = self._numbers.setdefault(place, {}), self._values.setdefault(place, [])
        found = [known.get(value, _UNKNOWN) for value in encoded.dictionary.to_pylist()]
        if remember and _UNKNOWN in found:
            for number, value in enumerate(encoded.dictionary.to_pylist()):
                if found[number] == _UNKNOWN:
                    found[number] = known.setdefault(value, len(values))
                    if found[number] == len(values):
                        values.append(value)
        numbers = np.array([*found, 0], np.int64)
        indices = encoded.indices.fill_null(len(found)) if encoded.indices.null_count else encoded.indices
        made: Integers = numbers[indices.to_numpy(zero_copy_only=False)]
        return made

    def _column(self, words: Integers, is_null: Any, place: int, type_: pa.DataType) -> pa.Array[Any]:
        mask = is_null if is_null.any() else None
        if _is_whole(type_):
            return _typed(words, mask, type_)
        numbers, indices = np.unique(words, return_inverse=True)
        values = self._values.get(place, [])
        # A null has no value, where it is the only one.
        found = pa.array([values[number] if number < len(values) else None for number in numbers.tolist()], type_)
        return found.take(pa.array(indices, pa.int64(), mask=mask))


def _is_whole(type_: pa.DataType) -> bool:
    is_time = pa.types.is_temporal(type_) and type_.bit_width in (32, 64)
    is_number = pa.types.is_signed_integer(type_) or type_ in _FLOATS
    return bool(is_number or pa.types.is_boolean(type_) or is_time)


def _numbers(column: pa.Array[Any]) -> Any:
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    values = column.to_numpy(zero_copy_only=False)
    return one_zero(values).astype(np.float64).view(np.int64) if column.type in _FLOATS else values


def one_zero(values: Any) -> Any:
    """Numbers with a fraction whose bits are equal exactly if Spark groups them together: one zero, one NaN."""
    made = values + values.dtype.type(0)
    made[np.isnan(made)] = np.nan
    return made


def _typed(words: Integers, mask: Any, type_: pa.DataType) -> pa.Array[Any]:
    made: pa.Array[Any]
    if pa.types.is_boolean(type_):
        made = pa.array(words != 0, mask=mask)
        return made
    if type_ in _FLOATS:
        made = pa.array(words.view(np.float64), mask=mask).cast(type_)
        return made
    whole: Any = type_
    if pa.types.is_temporal(type_):
        whole = pa.int32() if type_.bit_width == 32 else pa.int64()
    made = pa.array(words.astype(whole.to_pandas_dtype()), whole, mask=mask).view(type_)
    return made
