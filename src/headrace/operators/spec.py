"""What an operator says about itself. Validation, docs, forms and the palette all read this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from headrace.graph.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext

Kind = Literal["source", "relational", "serial", "sink"]


class OperatorConfig(BaseModel):
    """Base of every operator's settings. Unknown settings are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Port:
    name: str
    summary: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Spec:
    """An entry of the catalogue. `example` is text notation of a whole small pipeline."""

    name: str
    title: str
    summary: str
    kind: Kind
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    guarantees: str
    example: str
    stateful: bool = False


C = TypeVar("C", bound=OperatorConfig)


class Operator(ABC, Generic[C]):
    """One operator of the catalogue: stateless itself, it answers questions about a node's config."""

    spec: ClassVar[Spec]
    config_type: type[C]

    @abstractmethod
    def output_schema(self, config: C, inputs: Mapping[str, Schema]) -> Schema:
        """Called at validation, without Spark. Raises InvalidInput where names or types do not fit.

        A sink returns the schema of what it writes.
        """

    @abstractmethod
    def compile(self, config: C, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        """Called once per start of a job, with one DataFrame per input port. A sink shapes the rows it writes."""
