"""What `spark/` hands to an operator that compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from headrace.graph.document import Node
from headrace.graph.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CompileContext(Protocol):
    """Services and facts of the job under way. `node` is the node being compiled."""

    @property
    def node(self) -> Node: ...

    @property
    def spark(self) -> SparkSession: ...

    @property
    def bounded(self) -> bool:
        """True for a batch run: read a range and end."""

    def input_schema(self, port: str) -> Schema:
        """What is known of the rows that come into a port of the node being compiled."""

    def read_topic(self, node: Node, schema: Schema) -> DataFrame:
        """Rows of a topic, through Headrace's own data source; only columns that the pipeline uses."""

    def read_trigger(self, node: Node) -> DataFrame:
        """The firings of a trigger: of a batch its newest ones."""

    def read_table(self, node: Node, schema: Schema) -> DataFrame:
        """A topic as a table, no stream: the newest record of each key, in the version of the micro-batch."""
