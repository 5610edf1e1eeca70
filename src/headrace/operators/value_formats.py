"""The settings that say how the values of a topic are encoded, shared by what reads topics and what writes them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Final, Protocol, runtime_checkable

from pydantic import Field

from headrace.errors import InvalidInput
from headrace.formats import REGISTRY_FORMATS, SCHEMA_FORMATS, FormatName, ValueFormat
from headrace.formats.value_format import READ_ANYWAY, TEXT_FORMATS
from headrace.operators.settings import checked, refuse_setting

FORMAT: Final = "How records are encoded."
DELIMITER: Final = "csv only: the character between two values."
VALUE_SCHEMA: Final = (
    "avro and protobuf only: the Avro schema as JSON, or the text of a .proto file. "
    "Left out, it is made from the columns."
)
VALUE_MESSAGE: Final = "protobuf only: the message of the .proto file that a value is; left out, the first."

SCHEMA_REGISTRY: Final = (
    "json, avro and protobuf only: `embedded`, or the URL of a schema registry, a password in it as `${secret:NAME}`. "
    "Each value names its schema in it."
)


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n\0':
        raise InvalidInput(f"{text!r} is no delimiter", hint="one character, such as ',' or ';' or a tab")
    return text


def check_time_format(text: str) -> str:
    """Raises InvalidInput for what is no way to write event times."""
    from headrace.formats import time_formats  # noqa: PLC0415 - the catalogue loads without Arrow

    return time_formats.check_time_format(text)


def _registry(place: str) -> str:
    if place != "embedded" and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", place):
        raise InvalidInput(f"{place!r} is no schema registry", valid=("embedded", "http://host:8081"))
    return place


TIME_FORMAT: Final = (
    "json and csv only: how event_time is written: iso8601 or epoch_millis, which are read anyway, epoch_seconds, or a "
    "pattern such as `dd.MM.yyyy HH:mm:ss`."
)

TimeFormat = Annotated[str, checked(check_time_format)]
RegistryPlace = Annotated[str, checked(_registry)]
Delimiter = Annotated[str, checked(_delimiter)]
SchemaText = Annotated[str, Field(min_length=1, json_schema_extra={"format": "text"})]


class FormatSettings(Protocol):
    @property
    def format(self) -> FormatName: ...
    @property
    def delimiter(self) -> str: ...
    @property
    def value_schema(self) -> str | None: ...
    @property
    def value_message(self) -> str | None: ...
    @property
    def schema_registry(self) -> str | None: ...


@runtime_checkable
class TimedFormatSettings(FormatSettings, Protocol):
    """Of what reads event times that may be written in a way of their own."""

    @property
    def event_time(self) -> str | None: ...
    @property
    def event_time_format(self) -> str | None: ...


def value_format(config: FormatSettings) -> ValueFormat:
    plain = ValueFormat(
        config.format,
        schema=config.value_schema,
        message=config.value_message,
        delimiter=config.delimiter,
        registry=config.schema_registry,
    )
    if not isinstance(config, TimedFormatSettings) or config.event_time_format in (None, *READ_ANYWAY):
        return plain
    return replace(plain, time_column=config.event_time, time_format=config.event_time_format)


def refuse_foreign_settings(config: FormatSettings) -> None:
    """Raises what a validator raises for a setting that the chosen format does not have."""
    formats: dict[str, tuple[Any, tuple[str, ...]]] = {
        "delimiter": (config.delimiter != ",", ("csv",)),
        "value_schema": (config.value_schema, SCHEMA_FORMATS),
        "value_message": (config.value_message, ("protobuf",)),
        "schema_registry": (config.schema_registry, REGISTRY_FORMATS),
    }
    for setting, (is_set, valid) in formats.items():
        if is_set and config.format not in valid:
            raise refuse_setting(f"{setting} is set and format is {config.format}", f"it is for {' and '.join(valid)}")


def refuse_time_format(config: TimedFormatSettings) -> None:
    """Raises what a validator raises for a time format without a column, or for values that hold times as such."""
    if config.event_time_format is None:
        return
    if config.event_time is None or config.event_time.startswith("_"):
        raise refuse_setting("event_time_format is set, and no declared column is event_time", "name it in event_time")
    if config.format not in TEXT_FORMATS:
        raise refuse_setting(
            f"event_time_format is set and format is {config.format}", f"it is for {' and '.join(TEXT_FORMATS)}"
        )
