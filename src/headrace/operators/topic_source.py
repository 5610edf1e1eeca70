"""`topic`: rows of a topic, as they come."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.formats import FormatName, check_reading
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import column_types
from headrace.operators.event_time import (
    EVENT_TIME,
    IDLE_TIMEOUT,
    NO_WATERMARK,
    WATERMARK,
    refuse_watermark_alone,
    watermarked,
    with_event_time,
)
from headrace.operators.settings import (
    ColumnName,
    Columns,
    Duration,
    TopicName,
    WrittenTopicName,
    checked,
    refuse_setting,
)
from headrace.operators.spec import Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import SYSTEM_COLUMNS, refuse_system_names
from headrace.operators.value_formats import (
    DELIMITER,
    FORMAT,
    SCHEMA_REGISTRY,
    TIME_FORMAT,
    VALUE_MESSAGE,
    VALUE_SCHEMA,
    Delimiter,
    RegistryPlace,
    SchemaText,
    TimeFormat,
    refuse_foreign_settings,
    refuse_time_format,
    value_format,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext


def check_start(start: str) -> str:
    """Raises InvalidInput unless it is `earliest`, `latest`, `offset:N` or `timestamp:ISO8601`."""
    if start in ("earliest", "latest") or re.fullmatch(r"offset:\d{1,19}", start):
        return start
    kind, _, moment = start.partition(":")
    try:
        if kind == "timestamp":
            datetime.fromisoformat(moment)
            return start
    except ValueError:
        raise InvalidInput(f"{moment!r} is no ISO 8601 time", hint="write timestamp:2026-01-31T12:00:00Z") from None
    valid = ("earliest", "latest", "offset:N", "timestamp:ISO8601")
    raise InvalidInput(f"cannot start at {start!r}", valid=valid)


# What on_error was called in older documents.
OLDER_NAME: Final = "bad_rows"


class TopicConfig(OperatorConfig):
    topic: TopicName = Field(description="The topic to read.")
    schema_ddl: Columns = Field(alias="schema", description="Columns and types: `drone STRING, battery DOUBLE`.")
    format: FormatName = Field("json", description=FORMAT)
    delimiter: Delimiter = Field(",", description=DELIMITER)
    value_schema: SchemaText | None = Field(None, description=VALUE_SCHEMA)
    value_message: str | None = Field(None, description=VALUE_MESSAGE)
    schema_registry: RegistryPlace | None = Field(None, description=SCHEMA_REGISTRY)
    start: Annotated[str, checked(check_start)] = Field(
        "earliest", description="Where the first run begins: earliest, latest, offset:N or timestamp:ISO8601."
    )
    event_time: ColumnName | None = Field(None, description=EVENT_TIME)
    event_time_format: TimeFormat | None = Field(None, description=TIME_FORMAT)
    watermark: Duration = Field(NO_WATERMARK, description=WATERMARK)
    idle_timeout: Duration | None = Field(None, description=IDLE_TIMEOUT)
    max_rows_per_batch: int = Field(1_000_000, gt=0, description="At most this many rows in one micro-batch.")
    on_error: Literal["drop", "dead_letter", "retry", "fail"] | None = Field(
        None,
        description=(
            "Records that cannot be decoded, and rows that an expression behind fails for: dropped and counted, sent "
            "to dead_letter, or the job fails; with retry it tries again first, after longer and longer waits: what a "
            "record needs may still come. When left out, bad records are dropped, and a failing expression fails the "
            "job."
        ),
    )
    dead_letter: WrittenTopicName | None = Field(
        None, description="The topic for such records and rows when on_error is dead_letter."
    )

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, given: object) -> object:
        """`bad_rows` is what on_error was called; its default is no decision about failing expressions."""
        if not isinstance(given, dict) or OLDER_NAME not in given:
            return given
        if "on_error" in given:
            raise refuse_setting(f"on_error and {OLDER_NAME} say the same thing twice", f"leave out {OLDER_NAME}")
        said = given[OLDER_NAME]
        rest = {name: value for name, value in given.items() if name != OLDER_NAME}
        return rest if said == "drop" else {**rest, "on_error": said}

    @model_validator(mode="after")
    def _fits_together(self) -> TopicConfig:
        refuse_watermark_alone(self.event_time, self.watermark, self.idle_timeout)
        refuse_foreign_settings(self)
        refuse_time_format(self)
        if self.schema_registry is not None and (self.value_schema or self.value_message):
            hint = "leave out value_schema and value_message"
            raise refuse_setting("the schemas of the values are those of the registry", hint)
        if self.on_error == "dead_letter" and self.dead_letter is None:
            raise refuse_setting(
                "on_error is dead_letter and no topic is named",
                "set dead_letter (in SQL: 'dead_letter.topic') to a topic",
            )
        if self.on_error != "dead_letter" and self.dead_letter is not None:
            said = self.on_error or "drop"
            raise refuse_setting(f"dead_letter is set and on_error is {said}", "set on_error to dead_letter")
        return self

    @property
    def schema_columns(self) -> Schema:
        """The declared columns, with the system columns hidden beside them."""
        return replace(Schema.parse(self.schema_ddl), hidden=SYSTEM_COLUMNS)


class TopicSource(Operator[TopicConfig]):
    spec = Spec(
        name="topic",
        title="Topic",
        summary="Reads a topic of the log.",
        kind="source",
        inputs=(),
        outputs=(
            Port("out", "one row per record; _timestamp, _key, _partition, _offset, _processing_time can be named too"),
        ),
        guarantees=(
            "Every record from the start on, exactly once, in order within a partition, through restarts. "
            "Records that cannot be decoded are counted, and kept in the dead letter topic where one is named."
        ),
        example=(
            'topic telemetry schema="drone STRING, battery DOUBLE, ts TIMESTAMP" event_time=ts watermark="5 seconds"'
            " ! preview"
        ),
        positional="topic",
    )
    config_type = TopicConfig

    @property
    def older_settings(self) -> tuple[str, ...]:
        return (OLDER_NAME,)

    def output_schema(self, config: TopicConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = config.schema_columns
        refuse_system_names(schema.names)
        check_reading(value_format(config), column_types(schema))
        return with_event_time(schema, config.event_time)

    def compile(self, config: TopicConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        frame = context.read_topic(context.node, config.schema_columns)
        return watermarked(frame, config.event_time, config.watermark)
