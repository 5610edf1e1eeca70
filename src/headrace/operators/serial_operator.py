"""What all operators have in common that run as Python in a chain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.settings import ColumnName, TopicName, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig
from headrace.serial import API_VERSION, FAIL, OnError
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

TIME = "The event-time column, as named by the source's event_time."
KEYS = "Columns whose values name a key: each key has state of its own. None makes one key of all rows."
RETRIES_MAX = 100
# Numbers that are nearly equal would be keys of their own.
_NO_KEYS = ("FLOAT", "DOUBLE", "ARRAY", "MAP", "STRUCT", "DECIMAL")


Keys = Annotated[list[ColumnName], Field(description=KEYS)]
Partitioned = Annotated[
    Literal["by_key", "as_topic"],
    Field(
        description=(
            "by_key: rows are brought together by their key first; as_topic: they already are, for the topic is "
            "partitioned by this key. Faster, and wrong if it is not so."
        )
    ),
]
ErrorAction = Annotated[
    Literal["fail", "drop", "dead_letter"],
    Field(description="Rows that the operator cannot handle: the job fails, dropped and counted, or kept apart."),
]
Retries = Annotated[int, Field(ge=0, le=RETRIES_MAX, description="How often a row that failed is tried again.")]
DeadLetterTopic = Annotated[
    TopicName | None, Field(description="The topic for such rows when on_error is dead_letter.")
]


class KeyedConfig(OperatorConfig):
    """Settings of an operator with state by key. Each declares these itself, in the order they are shown."""

    if TYPE_CHECKING:
        keys: Keys
        partitioned: Partitioned


class RowErrorConfig(OperatorConfig):
    """Settings of an operator whose rows do not depend on each other. Each declares these itself."""

    if TYPE_CHECKING:
        on_error: ErrorAction
        retries: Retries
        dead_letter: DeadLetterTopic

    @model_validator(mode="after")
    def _dead_letters_have_a_home(self) -> RowErrorConfig:
        if (self.on_error == "dead_letter") != (self.dead_letter is not None):
            raise refuse_setting("on_error=dead_letter and a topic in dead_letter go together")
        return self


C = TypeVar("C", bound=OperatorConfig)


class SerialOperator(Operator[C]):
    """An operator of the catalogue that runs in a chain: `instance` makes what does the work, anew for every lane."""

    api_version: ClassVar[int] = API_VERSION

    @abstractmethod
    def instance(self, config: C, schema: Schema) -> Instance:
        """Called in Spark's tasks, for each lane and micro-batch, with the columns that come in."""

    def chain_instance(self, config: C, inputs: Mapping[str, Schema]) -> Instance:
        """For operators with several inputs, which need the columns of each."""
        return self.instance(config, inputs["in"])

    def keys(self, config: C) -> tuple[str, ...] | None:
        """Columns by which rows must be brought together; None where any row may come to any lane."""
        if isinstance(config, KeyedConfig) and config.partitioned == "by_key":
            return tuple(config.keys)
        return None

    def on_error(self, config: C) -> OnError:
        return OnError(config.on_error, config.retries) if isinstance(config, RowErrorConfig) else FAIL

    def compile(self, config: C, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        raise InvalidInput("a serial operator runs in a chain, not in Spark's plan", node=context.node.id)


def check_keys(keys: list[str], schema: Schema) -> tuple[Column, ...]:
    """The key columns. Raises InvalidInput for one that is not there, or whose type makes no good key."""
    columns = tuple(schema.require(key) for key in keys)
    for column in columns:
        if column.type.startswith(_NO_KEYS):
            valid = ("STRING", "BIGINT", "INT", "BOOLEAN", "DATE", "TIMESTAMP", "BINARY")
            raise InvalidInput(f"the key {column.name!r} is {column.type}", valid=valid)
    return columns
