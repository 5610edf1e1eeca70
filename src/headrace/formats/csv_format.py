"""CSV: one line a record, all declared columns in their order. An empty cell is null, a quoted empty one is a text."""

from __future__ import annotations

import re
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from headrace.errors import InvalidInput
from headrace.formats.decoding import NO_VALUE, RowDecoder, one_array
from headrace.formats.times import TIMESTAMP, as_time
from headrace.formats.value_format import ValueFormat

_NESTED = (pa.types.is_nested, pa.types.is_binary)


def check_csv(columns: pa.Schema) -> None:
    """Raises InvalidInput for a column that CSV has no notation for."""
    for field in columns:
        if any(is_of(field.type) for is_of in _NESTED):
            raise InvalidInput(
                f"csv has no notation for the column {field.name!r}: {field.type}", hint="cast it before"
            )


class CsvDecoder(RowDecoder):
    """Only the columns wanted are converted."""

    def __init__(self, schema: pa.Schema, format_: ValueFormat) -> None:
        super().__init__(schema)
        self._columns = list(format_.columns or schema.names)
        self._delimiter = format_.delimiter
        self._misfit = f"not one line of {len(self._columns)} values"
        types = {field.name: pa.string() if field.type == TIMESTAMP else field.type for field in schema}
        self._convert = pa.csv.ConvertOptions(
            column_types=cast("Any", types),
            include_columns=schema.names,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )

    def parse(self, values: pa.BinaryArray) -> pa.RecordBatch:
        if values.null_count:
            raise ValueError(NO_VALUE)
        text = cast("pa.StringArray", values.cast(pa.string()))
        if len(self._columns) > 1 and pc.any(pc.equal(text, pa.scalar("")), min_count=0).as_py():
            raise ValueError(self._misfit)  # the parser takes an empty line for a row of nulls
        is_broken = pc.any(pc.match_substring_regex(text, "[\r\n]"), min_count=0).as_py()
        if is_broken and len(text) > 1:
            # A line break may be part of a quoted cell, or part two records: only one at a time tells.
            raise ValueError("a line break among several records")
        lines = pc.ascii_rtrim(text, "\r\n") if is_broken else text
        table = self._read(lines, newlines_in_values=bool(is_broken))
        if table.num_rows != len(values):
            raise ValueError(self._misfit)
        columns = [self._column(table[field.name], field.type) for field in self.schema]
        return pa.record_batch(columns, schema=self.schema)

    def _read(self, lines: pa.StringArray, *, newlines_in_values: bool) -> pa.Table:
        whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
        joined = cast("pa.StringArray", pc.binary_join(whole, "\n"))[0].as_py() + "\n"
        data = joined.encode()
        return pa.csv.read_csv(
            cast("Any", pa.BufferReader(data)),
            pa.csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=self._columns),
            pa.csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=newlines_in_values, ignore_empty_lines=False
            ),
            self._convert,
        )

    @staticmethod
    def _column(column: pa.ChunkedArray[Any], type_: pa.DataType) -> pa.Array[Any]:
        return one_array(as_time(column) if type_ == TIMESTAMP else column)


class CsvEncoder:
    """Cells are quoted only where they need it."""

    def __init__(self, format_: ValueFormat) -> None:
        self._delimiter = format_.delimiter
        self._needs_quotes = f'[{re.escape(self._delimiter)}"\r\n]|^$|^\\s|\\s$'

    def __call__(self, rows: pa.RecordBatch) -> pa.BinaryArray:
        cells: list[Any] = [self._cells(column) for column in rows.columns]
        lines: Any = pc.binary_join_element_wise(*cells, self._delimiter, null_handling="replace", null_replacement="")
        return cast("pa.BinaryArray", lines.cast(pa.binary()))

    def _cells(self, column: pa.Array[Any]) -> pa.Array[Any]:
        if not pa.types.is_string(column.type):
            return column.cast(pa.string())
        pieces: list[Any] = ['"', pc.replace_substring(column, '"', '""'), '"', ""]
        needed = pc.match_substring_regex(column, self._needs_quotes)
        return cast("pa.Array[Any]", pc.if_else(needed, pc.binary_join_element_wise(*pieces), column))
