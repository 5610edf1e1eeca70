"""Values of records ⇄ Arrow columns, one file for each format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.formats.value_format import REGISTRY_FORMATS, SCHEMA_FORMATS, FormatName, ValueFormat
from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.formats.codecs import (
        Encoder,
        check_reading,
        check_writing,
        decoder,
        encoder,
        value_prefix,
        with_schema,
    )
    from headrace.formats.decoding import Bad, Decoded, Decoder

__all__ = [
    "REGISTRY_FORMATS",
    "SCHEMA_FORMATS",
    "Bad",
    "Decoded",
    "Decoder",
    "Encoder",
    "FormatName",
    "ValueFormat",
    "check_reading",
    "check_writing",
    "decoder",
    "encoder",
    "value_prefix",
    "with_schema",
]

# What only says which format a topic has must not load Arrow.
__getattr__ = exporter(
    __name__,
    {
        **dict.fromkeys(
            ("Encoder", "check_reading", "check_writing", "decoder", "encoder", "value_prefix", "with_schema"), "codecs"
        ),
        **dict.fromkeys(("Bad", "Decoded", "Decoder"), "decoding"),
    },
)
