"""What all operators have in common that run as Python in a chain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import Field, model_validator

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.imports import load_object
from headrace.operators.settings import ColumnName, WrittenTopicName, refuse_setting
from headrace.operators.spec import Operator, OperatorConfig
from headrace.serial import API_VERSION, FAIL, OnError, Partitioning
from headrace.serial import Operator as Instance
from headrace.serial.partitioning import require_partitioner

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
    Literal["by_key", "as_topic", "custom"],
    Field(
        description=(
            "by_key: rows are brought together by their key first; as_topic: they already are, for the topic is "
            "partitioned by this key. Faster, and wrong if it is not so. custom: by the function in partitioner."
        )
    ),
]
Spread = Annotated[
    Literal["as_topic", "round_robin", "custom"],
    Field(
        description=(
            "Where the work is done. as_topic: where the rows are; round_robin: spread evenly over all lanes, for work "
            "that takes longer than moving rows; custom: by the function in partitioner."
        )
    ),
]
Partitioner = Annotated[
    str | None,
    Field(
        description=(
            "For partitioned=custom: `package.module:name` of a function of an Arrow batch that returns a whole number "
            "for each row. Rows of one number, and so all rows of a key, are in one lane."
        )
    ),
]
ErrorAction = Annotated[
    Literal["fail", "drop", "dead_letter"],
    Field(description="Rows that the operator cannot handle: the job fails, dropped and counted, or kept apart."),
]
Retries = Annotated[int, Field(ge=0, le=RETRIES_MAX, description="How often a row that failed is tried again.")]
DeadLetterTopic = Annotated[
    WrittenTopicName | None, Field(description="The topic for such rows when on_error is dead_letter.")
]


class PartitionedConfig(OperatorConfig):
    """Settings about lanes. Each operator declares them itself, in the order they are shown."""

    if TYPE_CHECKING:
        partitioner: Partitioner

    @model_validator(mode="after")
    def _partitioner_has_a_use(self) -> PartitionedConfig:
        place = getattr(self, "partitioner", None)
        if (getattr(self, "partitioned", None) == "custom") != (place is not None):
            raise refuse_setting("partitioned=custom and a function in partitioner go together")
        if place is not None:
            _load_partitioner(place)
        return self


class KeyedConfig(PartitionedConfig):
    """Settings of an operator with state by key."""

    if TYPE_CHECKING:
        keys: Keys
        partitioned: Partitioned


class RowErrorConfig(PartitionedConfig):
    """Settings of an operator whose rows do not depend on each other."""

    if TYPE_CHECKING:
        partitioned: Spread
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
    keeps_columns: ClassVar[bool] = True
    """Whether columns that come in and go out under one name have the same values. If not, no operator behind it in the
    chain can have its rows brought together by them."""
    takes_any_order: ClassVar[bool] = False
    """Whether rows of one micro-batch may come in any order: what comes out is the same."""

    @abstractmethod
    def instance(self, config: C, schema: Schema) -> Instance:
        """Called in Spark's tasks, for each lane and micro-batch, with the columns that come in."""

    def chain_instance(self, config: C, inputs: Mapping[str, Schema]) -> Instance:
        """For operators with several inputs, which need the columns of each."""
        return self.instance(config, inputs["in"])

    def partitioning(self, config: C) -> Partitioning | None:
        """How rows must be brought to lanes before the chain; None where they can stay where they are."""
        match getattr(config, "partitioned", None):
            case "by_key" if isinstance(config, KeyedConfig):
                return Partitioning("by_key", tuple(config.keys))
            case "round_robin":
                return Partitioning("round_robin")
            case "custom":
                return Partitioning("custom", function=getattr(config, "partitioner", None))
            case _:
                return None

    def lanes(self, config: C, inputs: Mapping[str, Schema]) -> Partitioning | None:
        return self.partitioning(config)

    def kept_columns(self, config: C, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        if not self.keeps_columns:
            return {}
        made = self.output_schema(config, inputs).carried
        return {
            port: {made.require(name).name: name for name in schema.carried.names if made.find(name) is not None}
            for port, schema in inputs.items()
        }

    def on_error(self, config: C) -> OnError:
        return OnError(config.on_error, config.retries) if isinstance(config, RowErrorConfig) else FAIL

    def compile(self, config: C, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        raise InvalidInput("a serial operator runs in a chain, not in Spark's plan", node=context.node.id)


def _load_partitioner(place: str) -> None:
    try:
        require_partitioner(load_object(place), place)
    except InvalidInput as error:
        raise refuse_setting(error.message, error.hint) from None


def check_keys(keys: list[str], schema: Schema) -> tuple[Column, ...]:
    """The key columns. Raises InvalidInput for one that is not there, or whose type makes no good key."""
    columns = tuple(schema.require(key) for key in keys)
    for column in columns:
        if column.type.startswith(_NO_KEYS):
            valid = ("STRING", "BIGINT", "INT", "BOOLEAN", "DATE", "TIMESTAMP", "BINARY")
            raise InvalidInput(f"the key {column.name!r} is {column.type}", valid=valid)
    return columns
