"""How the values of a topic are encoded: plain data, for it travels to Spark's tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

FormatName: TypeAlias = Literal["json", "csv", "arrow", "raw", "avro", "protobuf"]
# Formats whose values can only be read with a schema of their own beside the columns.
SCHEMA_FORMATS: Final = ("avro", "protobuf")
# Formats whose schemas a registry keeps.
REGISTRY_FORMATS: Final = ("json", "avro", "protobuf")
# Formats whose values have numbers and texts where others have times.
TEXT_FORMATS: Final = ("json", "csv")
# How event times are written that a TIMESTAMP column of these is read from anyway.
READ_ANYWAY: Final = ("iso8601", "epoch_millis")


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """`columns` are all that were declared, in order, of which a reader may want some.

    `schema` is an Avro schema as JSON, or the text of a .proto file; `message` says which message of it.
    """

    name: FormatName = "json"
    columns: tuple[str, ...] = ()
    schema: str | None = None
    message: str | None = None
    delimiter: str = ","
    registry: str | None = None
    """`embedded` or the URL of a schema registry: values name their schema."""
    schema_id: int | None = None
    """Of what is written: the schema's id in the registry."""
    time_column: str | None = None
    time_format: str | None = None
    """How the times of that column are written, where it is neither ISO 8601 nor epoch milliseconds."""
