"""The boundary around every decoder: whatever one raises is a bad record, with its place."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from headrace.errors import HeadraceError
from headrace.formats.decoding import Bad, Decoded, Decoder, at_places, combine, in_order, reason
from headrace.formats.json_format import JsonDecoder, RowFilter


class SafeDecoder:
    """Parsers raise what they like for bytes that nobody expected; one record must not stop the others.

    An error that was raised on purpose is passed on: a registry that does not answer makes no record bad.
    """

    def __init__(self, decode: Decoder, schema: pa.Schema) -> None:
        self._decode = decode
        self._schema = schema

    def __call__(self, values: pa.BinaryArray) -> Decoded:
        """All at once; where that fails, halved until the records are found for which it does."""
        try:
            return self._decode(values)
        except HeadraceError:
            raise
        except Exception as error:  # libraries raise all kinds
            if not len(values):
                raise
            if len(values) == 1:
                return Decoded(combine([], self._schema), pa.array([], pa.int64()), (Bad(0, reason(error)),))
        middle = len(values) // 2
        places = range(len(values))
        halves = [at_places(self(values[part.start : part.stop]), part) for part in (places[:middle], places[middle:])]
        return in_order(halves, self._schema)

    def sifted(self, values: pa.BinaryArray, names: Sequence[str], keeps: RowFilter) -> tuple[Decoded, int]:
        """As a call, but without rows that can be ruled out before they are made, and how many these are."""
        if not isinstance(self._decode, JsonDecoder):
            return self(values), 0
        try:
            return self._decode.sifted(values, names, keeps)
        except HeadraceError:
            raise
        except Exception:  # what it was shows where the records are looked at one by one
            return self(values), 0
