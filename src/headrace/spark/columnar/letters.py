"""Upper and lower case as Spark has it: of every language, by the mappings of Unicode, texts as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def lower(text: Any) -> Any:
    return _changed(text, pc.ascii_lower, str.lower)


def upper(text: Any) -> Any:
    return _changed(text, pc.ascii_upper, str.upper)


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
