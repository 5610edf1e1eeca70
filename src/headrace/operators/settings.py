"""Kinds of settings that operators share, each checked when a config is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from headrace.credential import require_ordinary
from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.durations import canonical_duration
from headrace.topic_names import require_topic_name


def checked(check: Callable[[str], str]) -> AfterValidator:
    """A check that raises InvalidInput, as a validator that keeps its cause, hint and valid values."""

    def validate(value: str) -> str:
        try:
            return check(value)
        except InvalidInput as error:
            raise _refusal(error.message, error.hint, error.valid) from None

    return AfterValidator(validate)


def refuse_setting(message: str, hint: str | None = None) -> PydanticCustomError:
    """For validators over several settings: `raise refuse_setting("…")`."""
    return _refusal(message, hint, ())


def _refusal(message: str, hint: str | None, valid: tuple[str, ...]) -> PydanticCustomError:
    # The message is passed as a value: braces in it must not be taken for a template.
    return PydanticCustomError("refused", "{message}", {"message": message, "hint": hint, "valid": valid})


def _canonical_columns(ddl: str) -> str:
    schema = Schema.parse(ddl)
    if not schema.columns:
        raise InvalidInput("no columns", hint="write them like `drone STRING, battery DOUBLE`")
    return str(schema)


def _ordinary_topic_name(name: str) -> str:
    """Pipelines write with the credential of our own parts: nothing else keeps them out of these topics."""
    require_ordinary(require_topic_name(name))
    return name


def _shown_as(form: str) -> object:
    """What a form should offer for the setting: `format` in its JSON schema."""
    return Field(json_schema_extra={"format": form})


# Set by the planner alone, where something behind the node needs it (`spark/planning/retractions.py`).
Retract = Annotated[
    SkipJsonSchema[bool],
    Field(exclude=True, description="Also emit rows that hold no longer, with the hidden column _weight = -1."),
]
Duration = Annotated[str, checked(canonical_duration), _shown_as("duration")]
Columns = Annotated[str, checked(_canonical_columns), _shown_as("sql-columns")]
TopicName = Annotated[str, checked(require_topic_name), _shown_as("topic")]
# One that the pipeline writes.
WrittenTopicName = Annotated[str, checked(_ordinary_topic_name), _shown_as("topic")]
SqlExpression = Annotated[str, _shown_as("sql-expression")]
ColumnName = Annotated[str, _shown_as("column")]
# What becomes of a row that an expression of a node fails for.
RowErrorPolicy = Literal["fail", "drop", "dead_letter", "null"]
OnRowError = Annotated[
    RowErrorPolicy | None,
    Field(
        description=(
            "Rows that an expression fails for: the job fails, they are dropped and counted, sent to dead_letter, or "
            "the result is null. When left out, on_error of the topic decides."
        )
    ),
]
RowErrorTopic = Annotated[
    WrittenTopicName | None,
    Field(description="The topic for such rows when on_error is dead_letter; when left out, that of the source."),
]
