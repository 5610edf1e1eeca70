"""What an operator says about itself. Validation, docs, forms and the palette all read this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from headrace.graph.document import Config, Json
from headrace.graph.schema import Schema
from headrace.operators.config import OperatorConfig, list_settings, read_config, setting_names
from headrace.operators.row_step import RowStep

__all__ = ["Kind", "Operator", "OperatorConfig", "Port", "Spec"]

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.operators.context import CompileContext
    from headrace.serial import Operator as Instance
    from headrace.serial import Partitioning

Kind = Literal["source", "relational", "serial", "sink"]


@dataclass(frozen=True, slots=True)
class Port:
    name: str
    summary: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Spec:
    """An entry of the catalogue. `example` is text notation of a whole small pipeline.

    `positional` names the setting that bare words fill in text notation and in the Python builder. `adjustable` are
    settings that a signal may change while the operator runs. Never name there what leads to code or to an address (a
    function, a URL, a topic, a path): such settings change only by a deploy.
    """

    name: str
    title: str
    summary: str
    kind: Kind
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    guarantees: str
    example: str
    positional: str | None = None
    stateful: bool = False
    adjustable: tuple[str, ...] = ()


C = TypeVar("C", bound=OperatorConfig)


class Operator(ABC, Generic[C]):
    """One operator of the catalogue: stateless itself, it answers questions about a node's config."""

    spec: ClassVar[Spec]
    config_type: type[C]

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings as written in a document, in the order they are shown."""
        return setting_names(self.config_type)

    @property
    def older_settings(self) -> tuple[str, ...]:
        """Names that settings had before: still read, never written."""
        return ()

    @property
    def adjustable(self) -> tuple[str, ...]:
        """Settings that a signal may change while a job runs, as long as columns and keys stay."""
        return self.spec.adjustable

    @property
    def list_settings(self) -> frozenset[str]:
        """Settings that take several values: text notation lets them stand without brackets."""
        return list_settings(self.config_type)

    def configure(self, config: Config) -> C:
        """A node's config, typed. Raises InvalidGraph with one problem per wrong setting."""
        return read_config(self.config_type, config)

    def canonical_config(self, config: C) -> dict[str, Json]:
        """One spelling per meaning: defaults left out, durations and the like in their canonical form."""
        return config.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    @abstractmethod
    def output_schema(self, config: C, inputs: Mapping[str, Schema]) -> Schema:
        """Called at validation, without Spark. Raises InvalidInput where names or types do not fit.

        A sink returns the schema of what it writes. An operator that keeps the event-time column sets
        `Schema.event_time`, so that windows after it are accepted.
        """

    def used_columns(
        self, config: C, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        """Which columns of each input this node reads, when `needed` of its output are read.

        Called after validation, to spare sources from decoding fields that nobody uses. Saying too much is safe.
        """
        return {port: frozenset(schema.names) for port, schema in inputs.items()}

    def row_step(self, config: C, schema: Schema) -> RowStep | None:
        """What this node does to each row of `schema` on its own; None if it needs more than one row, or makes several.

        Nodes that can say so share one pass over the rows with the branches beside them.
        """
        return None

    def chain_instance(self, config: C, inputs: Mapping[str, Schema]) -> Instance | None:
        """What does this node's work inside a chain of serial operators; None where it can only run in Spark's plan.

        Called for each lane and micro-batch, with the columns of every input that is connected.
        """
        return None

    def runs_in_chain(self, config: C, inputs: Mapping[str, Schema]) -> bool:
        """Whether a node that Spark's plan could run does its work better in a chain, as `chain_instance`: right behind
        topics, and with nothing but filters, selects and sinks behind it."""
        return False

    def kept_columns(self, config: C, inputs: Mapping[str, Schema]) -> Mapping[str, Mapping[str, str]]:
        """By input: columns of the output that always equal one of that input, and which. Saying too little is safe."""
        return {}

    def closing_time(self, config: C, schema: Schema) -> str | None:
        """When all that a row counts in has closed: an expression over the columns of its input, in microseconds.

        For nodes whose rows Spark's plan sums up before it looks at the watermark, so that it cannot tell how many it
        drops. None where it can.
        """
        return None

    def lanes(self, config: C, inputs: Mapping[str, Schema]) -> Partitioning | None:
        """How rows must be brought to lanes before a chain that this node is in; None where they can stay where they
        are."""
        return None

    @abstractmethod
    def compile(self, config: C, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        """Called once per start of a job, with one DataFrame per input port. A sink shapes the rows it writes."""
