"""What the readers of topics and tables are told when a query starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.formats import ValueFormat, with_schema
from headrace.graph.document import Node
from headrace.graph.validation import Validated
from headrace.operators import duration_ms
from headrace.operators.arrow_types import column_types
from headrace.operators.table_source import TableConfig
from headrace.operators.topic_source import TopicConfig
from headrace.operators.value_formats import value_format
from headrace.spark.chains.due_mark import DueMark
from headrace.spark.reading.prefilter import Prefilter
from headrace.spark.reading.table_versions import pinned, version_of
from headrace.spark.specs import Offsets, QueryTopics, SourceSpec, TableSpec, TopicLocation


@dataclass(frozen=True, slots=True)
class Range:
    """Where a topic source begins and, in a batch run, ends."""

    start: Offsets
    end: Offsets | None = None
    released: Offsets = field(default_factory=dict)
    """Where the stream is started again by hand: signals up to there stop it no more."""


@dataclass(frozen=True, slots=True)
class SourceUse:
    """What a query wants of one of its sources."""

    prefilter: Prefilter | None = None
    serves_chain: bool = False
    record_source: int | None = None
    """The number of the source, where its rows say which records they are."""
    waits: bool = False
    """Whether nodes behind the source may wait for its watermark, and do not see all of its rows."""
    tagged: bool = False
    """Whether offsets name their source: where a query has several."""
    tables: dict[str, TopicLocation] = field(default_factory=dict)
    """What the query looks up, by node: its sources tell the versions."""


@dataclass(frozen=True, slots=True)
class SourceSpecs:
    """For one start of a query: its topics have these ranges. Without a checkpoint it is no stream."""

    validated: Validated
    bootstrap: str
    log_directory: Path | None
    ranges: Mapping[str, Range]
    bounded: bool
    checkpoint: Path | None
    versions_in: str | None = None
    """A write-ahead file, where a batch run is to look up the versions of tables that it names."""

    def location(self, topic: str) -> TopicLocation:
        return TopicLocation(topic, self.bootstrap, None if self.log_directory is None else str(self.log_directory))

    def of_topic(self, node: Node, use: SourceUse) -> SourceSpec:
        config: TopicConfig = self.validated.configs[node.id]
        return SourceSpec(
            node=node.id,
            location=self.location(config.topic),
            format=_format_of(config),
            start=self.ranges[node.id].start,
            max_rows_per_batch=config.max_rows_per_batch,
            fail_on_bad=config.on_error in ("fail", "retry"),
            end=self.ranges[node.id].end,
            prefilter=use.prefilter,
            serves_chain=use.serves_chain,
            due_mark=str(DueMark.beside(self.checkpoint).path) if use.serves_chain and self.checkpoint else None,
            pipeline=self.validated.document.name,
            read=self._query_topics(use),
            tagged=use.tagged,
            event_time=self._event_time(config, use),
            idle_after_ms=_idle_after_ms(config, use),
            watermark_ms=duration_ms(config.watermark),
            watermark_in=None if self.checkpoint is None else str(self.checkpoint),
            tables=use.tables,
        )

    def of_table(self, node: Node) -> TableSpec:
        """For a batch run in its newest version, unless that is given."""
        config: TableConfig = self.validated.configs[node.id]
        location = self.location(config.topic)
        end = (pinned(self.versions_in, node.id) or version_of(location)) if self.bounded else None
        checkpoint = None if self.checkpoint is None else str(self.checkpoint)
        return TableSpec(node.id, location, _format_of(config), end, checkpoint)

    def _query_topics(self, use: SourceUse) -> QueryTopics:
        """What the sources of the query know of each other, so that they end at signals together."""
        return QueryTopics(
            {node: str(self.validated.configs[node].topic) for node in self.ranges},
            {node: wanted.start for node, wanted in self.ranges.items()},
            {node: wanted.released for node, wanted in self.ranges.items()},
            str(self.checkpoint) if use.tagged and self.checkpoint else None,
        )

    def _event_time(self, config: TopicConfig, use: SourceUse) -> str | None:
        """A chain that runs where the topic is read sees every row; a batch has an end."""
        if config.event_time is None or self.bounded or not use.waits:
            return None
        return config.schema_columns.require(config.event_time).name


def _idle_after_ms(config: TopicConfig, use: SourceUse) -> int | None:
    """For nodes of Spark's plan that wait for the watermark. A chain right behind its records needs no row for that:
    its driver knows the clock."""
    if config.idle_timeout is None or use.record_source is not None:
        return None
    return duration_ms(config.idle_timeout)


def _format_of(config: TopicConfig | TableConfig) -> ValueFormat:
    """Values that name their schemas bring them along; others are read with the one declared."""
    format_ = value_format(config)
    return with_schema(format_, column_types(config.schema_columns)) if format_.registry is None else format_
