"""Memory that is filled once and passed by reference: segments, pools with loans, buffers.

`Pool` lends slots that were touched once; `Buffer` is a handle on bytes with typed views. See docs/memory.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.memory.buffer import Buffer
    from headrace.memory.failures import Closed, Inherited, LimitReached, NoRoom, StaleReturn
    from headrace.memory.figures import PoolStats
    from headrace.memory.formats import (
        ARROW,
        BYTES,
        Array,
        Audio,
        AudioFormat,
        Format,
        Image,
        ImageFormat,
        parse_format,
    )
    from headrace.memory.mapped import MappedFile
    from headrace.memory.metadata import Flags, Metadata
    from headrace.memory.pool import Pool
    from headrace.memory.segment import Segment
    from headrace.memory.source import Place

_HOMES = {
    "buffer": ("Buffer",),
    "failures": ("Closed", "Inherited", "LimitReached", "NoRoom", "StaleReturn"),
    "formats": ("ARROW", "BYTES", "Array", "Audio", "AudioFormat", "Format", "Image", "ImageFormat", "parse_format"),
    "figures": ("PoolStats",),
    "mapped": ("MappedFile",),
    "metadata": ("Flags", "Metadata"),
    "pool": ("Pool",),
    "segment": ("Segment",),
    "source": ("Place",),
}

__all__ = [
    "ARROW",
    "BYTES",
    "Array",
    "Audio",
    "AudioFormat",
    "Buffer",
    "Closed",
    "Flags",
    "Format",
    "Image",
    "ImageFormat",
    "Inherited",
    "LimitReached",
    "MappedFile",
    "Metadata",
    "NoRoom",
    "Place",
    "Pool",
    "PoolStats",
    "Segment",
    "StaleReturn",
    "parse_format",
]

__getattr__ = exporter(__name__, {name: home for home, names in _HOMES.items() for name in names})


def __dir__() -> list[str]:
    """Names that are loaded when first used are there to be completed too."""
    return sorted({*globals(), *__all__})
