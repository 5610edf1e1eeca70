"""Compiled code that workers need, made once for a machine.

`python -m headrace.spark.session.prepare` takes some seconds.
"""

from __future__ import annotations

import importlib

import pyarrow as pa

from headrace.formats.json_plain import SCANNER, is_compiled
from headrace.serial import key_slots
from headrace.serial.xxhash import xxhash64


def is_prepared() -> bool:
    """Whether all of it is there."""
    return is_compiled() and key_slots.is_prepared()


def prepare() -> None:
    """Makes what is missing, and loads all of it."""
    importlib.import_module(SCANNER)
    xxhash64([pa.array([1]), pa.array([1], pa.int32()), pa.array(["a"])])
    key_slots.prepare()


if __name__ == "__main__":
    prepare()
