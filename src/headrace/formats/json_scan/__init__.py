"""The values of some fields of JSON objects, found by compiled code that looks at every byte once.

An object counts as plain when it is valid JSON, and what it has of the wanted fields is of their type, written as
usual and not twice. Of others nothing is said: they are for a real parser.

Compiling takes seconds, so it is done once for an installation (`spark/session/prepare.py`) and kept in cache files;
see `json_plain.is_compiled`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from headrace.compiled import forget_outdated

# Before any of it is loaded.
forget_outdated(__name__)

from headrace.formats.json_scan.texts import gather  # noqa: E402
from headrace.formats.json_scan.values import (  # noqa: E402
    BOOLEAN,
    BUCKET_COUNT,
    NUMBER_TIME,
    REAL,
    TEXT,
    TEXT_TIME,
    TIME,
    WHOLE,
    Fields,
    Found,
    find_values,
    name_bucket,
)

__all__ = [
    "BOOLEAN",
    "BUCKET_COUNT",
    "NUMBER_TIME",
    "REAL",
    "TEXT",
    "TEXT_TIME",
    "TIME",
    "WHOLE",
    "Fields",
    "Found",
    "find_values",
    "gather",
    "name_bucket",
]

# The kinds of arrays that it will meet, so that it is compiled or loaded now, not in every process forked from here.
_NONE: Final = np.zeros(0, np.int64)
_NOTHING: Final = (np.zeros((0, 0), np.bool_), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64))
find_values(np.zeros(1, np.int64), (_NONE,) * len(Fields._fields), _NOTHING)
gather(_NONE, _NOTHING[0].ravel(), _NONE, _NONE)
