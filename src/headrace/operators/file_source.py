"""`file`: rows of files, those there and those that come."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from headrace.graph.schema import Schema
from headrace.operators.event_time import (
    EVENT_TIME,
    NO_WATERMARK,
    WATERMARK,
    refuse_watermark_alone,
    watermarked,
    with_event_time,
)
from headrace.operators.settings import ColumnName, Columns, Duration, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.value_formats import DELIMITER, Delimiter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


class FileConfig(OperatorConfig):
    path: str = Field(min_length=1, description="A folder, a file or a pattern such as data/*.json.")
    format: Literal["json", "csv", "parquet"] = Field("json", description="json is one object per line.")
    schema_ddl: Columns = Field(alias="schema", description="Columns and types: `drone STRING, battery DOUBLE`.")
    header: bool = Field(True, description="csv only: the first line of each file names the columns.")
    delimiter: Delimiter = Field(",", description=DELIMITER)
    max_files_per_batch: int = Field(100, gt=0, description="At most this many new files in one micro-batch.")
    event_time: ColumnName | None = Field(None, description=EVENT_TIME)
    watermark: Duration = Field(NO_WATERMARK, description=WATERMARK)

    @model_validator(mode="after")
    def _fits_together(self) -> FileConfig:
        refuse_watermark_alone(self.event_time, self.watermark)
        if self.delimiter != "," and self.format != "csv":
            raise refuse_setting(f"delimiter is set and format is {self.format}", "it is for csv")
        return self


class FileSource(Operator[FileConfig]):
    spec = Spec(
        name="file",
        title="File",
        summary="Reads JSON lines, CSV or Parquet files.",
        kind="source",
        inputs=(),
        outputs=(Port("out", "one row per line or record"),),
        guarantees=(
            "Every file once, also through restarts; a file must be complete when it appears. "
            "The job fails at a row that cannot be decoded, so that none is lost silently."
        ),
        example='file flights/ format=csv schema="drone STRING, battery DOUBLE" ! filter "battery < 20" ! preview',
        positional="path",
    )
    config_type = FileConfig

    def output_schema(self, config: FileConfig, inputs: Mapping[str, Schema]) -> Schema:
        return with_event_time(Schema.parse(config.schema_ddl), config.event_time)

    def compile(self, config: FileConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        options: dict[str, str | int | bool] = {}
        if config.format != "parquet":
            options["mode"] = "FAILFAST"
        if config.format == "csv":
            options |= {"header": config.header, "enforceSchema": not config.header, "sep": config.delimiter}
        if not context.bounded:
            options["maxFilesPerTrigger"] = config.max_files_per_batch
        reader = context.spark.read if context.bounded else context.spark.readStream
        path = config.path if context.bounded else streamable(config.path)
        frame = reader.format(config.format).schema(config.schema_ddl).options(**options).load(path)
        return watermarked(frame, config.event_time, config.watermark)


def streamable(path: str) -> str:
    """Spark streams folders and patterns only: a single file becomes a pattern that nothing else fits."""
    folder, name = os.path.split(path)
    if not Path(path).is_file():
        return path
    return os.path.join(folder, re.sub(r"([A-Za-z0-9])", r"[\1]", name, count=1))
