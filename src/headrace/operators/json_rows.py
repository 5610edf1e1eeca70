"""Rows as JSON in Spark's plan: nulls are told, and no time loses its microseconds.

Times are written to the millisecond, and to the microsecond where there are some; always to the microsecond inside of
lists, maps and structs, whose times have one pattern for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_TO_MS: Final = "yyyy-MM-dd'T'HH:mm:ss.SSS"
_TO_US: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
# to_json leaves nulls out unless told; a consumer should see every column.
_OPTIONS: Final = {"ignoreNullFields": "false", "timestampFormat": f"{_TO_US}XXX"}


def frame_as_json(frame: DataFrame) -> Column:
    """One object for each row of the frame."""
    from pyspark.sql import functions as spark  # noqa: PLC0415 - the catalogue loads without Spark

    return json_rows((field.name, spark.col(f"`{field.name}`"), field.dataType) for field in frame.schema.fields)


def json_rows(columns: Iterable[tuple[str, Column, DataType]]) -> Column:
    """One object for each row, of columns with their names and types."""
    from pyspark.sql import functions as spark  # noqa: PLC0415
    from pyspark.sql.types import TimestampType  # noqa: PLC0415

    fields = [
        (_time(column) if isinstance(type_, TimestampType) else column).alias(name) for name, column, type_ in columns
    ]
    return spark.to_json(spark.struct(*fields), _OPTIONS)


def _time(column: Column) -> Column:
    """In UTC, as all that a session of ours shows."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    is_whole = spark.pmod(spark.unix_micros(column), spark.lit(1000)) == 0
    return spark.when(is_whole, spark.date_format(column, f"{_TO_MS}'Z'")).otherwise(
        spark.date_format(column, f"{_TO_US}'Z'")
    )
