"""Which decoder a format has. The formats are named here, one by one."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from headrace.errors import InvalidConfig
from headrace.formats.arrow_format import ArrowDecoder
from headrace.formats.csv_format import CsvDecoder
from headrace.formats.decoding import Decoder
from headrace.formats.json_format import JsonDecoder
from headrace.formats.raw_format import RawDecoder


def decoder(format_: str, schema: pa.Schema) -> Decoder:
    """The decoder of a format for the columns wanted; other fields in the values are not parsed."""
    makers: dict[str, Callable[[pa.Schema], Decoder]] = {
        "json": JsonDecoder,
        "csv": CsvDecoder,
        "arrow": ArrowDecoder,
        "raw": RawDecoder,
    }
    maker = makers.get(format_)
    if maker is None:
        raise InvalidConfig(f"unknown format {format_!r}", valid=tuple(makers))
    return maker(schema)
