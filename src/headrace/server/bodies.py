"""Bodies of requests, checked at the edge."""

from __future__ import annotations

from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticSerializationError

from headrace.server.deploying import Choice
from headrace.server.models.documents import DocumentModel, EdgeModel, LayoutModel
from headrace.signals import TOPICS_MAX, Handling, Kind
from headrace.spark.jobs.beginning import Begin

SAMPLE_ROWS_MAX: Final = 200
TEST_ROWS_MAX: Final = 1_000
PARTITIONS_MAX: Final = 1_000
# Version numbers and revisions: more than anybody saves, less than SQLite's largest integer.
NUMBER_MAX: Final = 2**31 - 1


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="after")
    def _is_text_throughout(self) -> Self:
        """JSON can spell halves of characters, which nothing can store or send on."""
        try:
            self.model_dump_json()
        except PydanticSerializationError:
            raise ValueError("a text holds half a character, or a value is nested too deeply") from None
        return self


class PipelineBody(Body):
    """A pipeline in one of its notations. A name given here wins over the one in the notation."""

    name: str | None = Field(
        default=None, min_length=1, description="The pipeline's name; text notation has none of its own."
    )
    document: DocumentModel | None = None
    sql: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _is_one_notation(self) -> PipelineBody:
        given = [name for name in ("document", "sql", "text") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of document, sql and text, not {len(given)}")
        return self


class SqlBody(Body):
    """Statements that ask or steer, with definitions before an EXPLAIN."""

    sql: str


class LookBody(Body):
    """A SELECT over streams, with the definitions that it needs before it. `start` overrules where streams begin."""

    sql: str
    start: Literal["earliest", "latest"] | None = None


class SaveBody(PipelineBody):
    note: str = ""
    author: str = ""


class DraftBody(PipelineBody):
    """`expected_revision` is the one that this replaces; 0 for a pipeline that has no draft yet."""

    expected_revision: int = Field(ge=0, le=NUMBER_MAX)
    layout: LayoutModel | None = None


class DraftTextBody(Body):
    """A text that cannot be read as a pipeline yet; null forgets it."""

    text: str | None


class ExpectedBody(Body):
    expected_revision: int = Field(ge=0, le=NUMBER_MAX)


class ChoiceBody(Body):
    """`begin` is where queries begin that cannot go on exactly; without it they are refused. `reset` forgets state and
    offsets of all queries: it must be `confirmed` where the pipeline has commits. With `truncate` it first deletes the
    records of the topics that the pipeline writes to."""

    begin: Begin | None = None
    reset: bool = False
    confirmed: bool = False
    truncate: bool = False

    @model_validator(mode="after")
    def _truncates_with_reset(self) -> Self:
        if self.truncate and not self.reset:
            raise ValueError("truncate is for a reset")
        return self

    @property
    def choice(self) -> Choice:
        return Choice(self.begin, self.reset, self.confirmed, self.truncate)


class DeployBody(ExpectedBody, ChoiceBody):
    note: str = ""
    author: str = ""


class RunBody(SaveBody, ChoiceBody):
    """A pipeline that becomes a version and runs, instead of the version that runs now."""


class SignalBody(Body):
    """For a pipeline, in every topic that it reads, or for all pipelines that read the named topics."""

    kind: Kind
    pipeline: str | None = Field(default=None, min_length=1)
    topics: list[str] = Field(default_factory=list, max_length=TOPICS_MAX)
    node: str | None = Field(default=None, min_length=1, description="The operator it is for; all, if not given.")
    parameters: dict[str, Any] = Field(default_factory=dict)
    handling: Handling = "once"
    id: str | None = Field(default=None, description="Sent twice under one id, a signal is placed once.")


class StartBody(ChoiceBody):
    version: int | None = Field(
        default=None, ge=1, le=NUMBER_MAX, description="Default: the version that ran last, or the newest if none ran."
    )


class BatchBody(PipelineBody):
    """A range as `start` and `end` of topics: earliest, latest, offset:N or timestamp:ISO8601."""

    start: str = "earliest"
    end: str = "latest"


class SampleBody(Body):
    """An edge, or a node and one of its output ports. `filter` is an SQL condition over the edge's columns."""

    edge: EdgeModel | None = None
    node: str | None = None
    port: str = "out"
    limit: int = Field(default=50, ge=1, le=SAMPLE_ROWS_MAX)
    filter: str | None = None

    @model_validator(mode="after")
    def _is_one_place(self) -> SampleBody:
        if (self.edge is None) == (self.node is None):
            raise ValueError("give either edge or node")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """The node and the port that rows leave by."""
        return (self.edge.source, self.edge.source_port) if self.edge else (self.node or "", self.port)


class TestRunBody(PipelineBody):
    """`inputs` are rows by source node; a source without them reads the newest of its topic."""

    inputs: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    limit: int = Field(default=50, ge=1, le=TEST_ROWS_MAX)


class TopicBody(Body):
    name: str
    partitions: int = Field(default=1, ge=1, le=PARTITIONS_MAX)
    config: dict[str, str] = Field(default_factory=dict)


class TopicConfigBody(Body):
    """Settings to change; null puts one back to its default. Partitions can only become more."""

    config: dict[str, str | None] = Field(default_factory=dict)
    partitions: int | None = Field(default=None, ge=1, le=PARTITIONS_MAX)


class MessageBody(Body):
    """`value` and `key` are texts, or any JSON value with encoding json, or base64; null is no value."""

    partition: int | None = Field(default=None, ge=0)
    key: Any = None
    value: Any = None
    key_encoding: Literal["text", "json", "base64"] = "text"
    value_encoding: Literal["text", "json", "base64"] = "text"
    headers: dict[str, str] = Field(default_factory=dict)


class ResetBody(Body):
    """`to`: earliest, latest, offset:N or timestamp:ISO8601."""

    topic: str
    to: str
    dry_run: bool = True


class UseTemplateBody(Body):
    name: str = Field(alias="as", description="The name of the new pipeline.")
