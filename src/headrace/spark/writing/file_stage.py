"""Rows on their way into a file: written beside its place under a hidden name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from headrace.process.private import users_umask
from headrace.spark.specs import Output
from headrace.spark.writing.output_rows import kept_columns, text_rows
from headrace.spark.writing.staged import FilePart


class FileStage:
    def __init__(self, output: Output, name: str) -> None:
        self.output = output
        self.rows = 0
        directory = Path(output.target)
        with users_umask():
            directory.mkdir(parents=True, exist_ok=True)
        # The time keeps apart what attempts of different runs left behind.
        self._path = directory / f"{name}-{time.time_ns():x}.{output.format}"
        self._file: pa.NativeFile | None = None
        self._writer: pa.csv.CSVWriter | pa.parquet.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        rows = text_rows(self.output, batch) if self.output.format == "json" else kept_columns(self.output, batch)
        if not rows.num_rows:
            return
        if self._file is None:
            with users_umask():
                self._file = pa.OSFile(str(self._path), "wb")
            self._writer = _writer(self.output.format, self._file, rows.schema)
        if self._writer is None:
            lines = cast("list[str]", rows.column(0).to_pylist())
            self._file.write("\n".join([*lines, ""]).encode())
        else:
            self._writer.write_batch(rows)
        self.rows += rows.num_rows

    def parts(self) -> list[FilePart]:
        if self._file is None:
            return []
        self._close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        return [FilePart(self.output.node, self.output.target, str(self._path), self.output.format)]

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        self._close()
        self._path.unlink(missing_ok=True)


def staged_prefix(query: str) -> str:
    """How the hidden files of a query begin: pipelines may share a folder."""
    return f".staged-{query}-"


def _writer(format_: str, file: pa.NativeFile, schema: pa.Schema) -> pa.csv.CSVWriter | pa.parquet.ParquetWriter | None:
    if format_ == "csv":
        return pa.csv.CSVWriter(cast("Any", file), schema)
    return pa.parquet.ParquetWriter(file, schema) if format_ == "parquet" else None
