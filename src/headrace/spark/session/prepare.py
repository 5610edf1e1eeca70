"""Compiled code that workers need, made once for a machine.

`python -m headrace.spark.session.prepare` takes some seconds.
"""

from __future__ import annotations

import importlib

import pyarrow as pa

from headrace.compiled import forget_outdated
from headrace.formats.json_plain import SCANNER, is_compiled
from headrace.operators import length_slide, over_walks
from headrace.serial import checksums, key_slots
from headrace.serial.xxhash import xxhash64

_PREPARED = (checksums, key_slots, length_slide, over_walks)


def is_prepared() -> bool:
    """Whether all of it is there."""
    return is_compiled() and all(module.is_prepared() for module in _PREPARED)


def prepare() -> None:
    """Makes what is missing, and loads all of it."""
    importlib.import_module(SCANNER)
    xxhash64([pa.array([1]), pa.array([1], pa.int32()), pa.array(["a"])])
    for module in _PREPARED:
        # Of a source that was only touched since, numba would use it; but it would never count as kept again.
        forget_outdated(module.__name__)
        module.prepare()


if __name__ == "__main__":
    prepare()
