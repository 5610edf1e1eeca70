"""Upper and lower case as Spark has it: of every language, by the mappings of Unicode, texts as a whole.

Python's mappings are the same, but for letters that came to Unicode after its version of it. (Whether such a letter
stands before a final sigma, Python does not see.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

# Of Unicode 16 and 17, which Spark's library knows: capital → small.
_LATE: Final = {
    0x1C89: 0x1C8A, 0xA7CB: 0x0264, 0xA7CC: 0xA7CD, 0xA7CE: 0xA7CF, 0xA7D2: 0xA7D3, 0xA7D4: 0xA7D5, 0xA7DA: 0xA7DB,
    0xA7DC: 0x019B,
    **{code: code + 0x20 for code in range(0x10D50, 0x10D66)},
    **{code: code + 0x1B for code in range(0x16EA0, 0x16EB9)},
}  # fmt: skip
_LATE_CAPITALS: Final = {small: capital for capital, small in _LATE.items()}


def lower(text: Any) -> Any:
    return _changed(text, pc.ascii_lower, lambda value: value.translate(_LATE).lower())


def upper(text: Any) -> Any:
    return _changed(text, pc.ascii_upper, lambda value: value.translate(_LATE_CAPITALS).upper())


def _changed(text: Any, for_ascii: Callable[[Any], Any], for_any: Callable[[str], str]) -> Any:
    if isinstance(text, pa.Scalar):
        return _changed(pa.array([text.as_py()], pa.string()), for_ascii, for_any)[0]
    changed = for_ascii(text)
    is_ascii = pc.string_is_ascii(text)
    if is_ascii.true_count + text.null_count == len(text):
        return changed
    others = pc.fill_null(pc.invert(is_ascii), False)
    texts = pa.array([for_any(value) for value in text.filter(others).to_pylist()], pa.string())
    return pc.replace_with_mask(changed, others, texts)
