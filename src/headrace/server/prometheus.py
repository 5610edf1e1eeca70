"""Figures for Prometheus, taken when it asks: of jobs, nodes and edges, of topics and partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, get_args

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace import __version__
from headrace.errors import HeadraceError
from headrace.server.figures import node_counts
from headrace.server.models.jobs import JobFigures
from headrace.server.models.topics import PartitionView
from headrace.server.service import Service
from headrace.server.topics import BACKLOG, BLOCKED, DROPPED, GROUPS, GROUPS_MAX, GROUPS_REFUSED, TIMED_OUT
from headrace.spark import JobStatus
from headrace.spark.jobs.status import ShownState

# A scrape waits only so long for a broker that may be away.
BROKER_WAIT_S: Final = 2.0
_JOB: Final = ("pipeline",)
_NODE: Final = ("pipeline", "node")
_EDGE: Final = ("pipeline", "source", "source_port", "target", "target_port")
_PARTITION: Final = ("topic", "partition")
_TOPIC: Final = ("topic",)


class PrometheusText:
    """A registry of its own: what libraries register elsewhere does not get in."""

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Collector(service))

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Collector(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: registering must not ask the broker."""
        return ()

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("headrace_build", "Version of Headrace.", value={"version": __version__})
        yield _gauge("headrace_ready", "Whether Spark is up.", self._service.is_ready)
        yield CounterMetricFamily(
            "headrace_engine_restarts", "How often Spark was started again.", value=self._service.engine_restarts
        )
        disk = self._service.disk.look()
        yield _gauge("headrace_disk_free_bytes", "Free on the disk of the data directory.", disk.free_bytes)
        yield _gauge("headrace_disk_nearly_full", "Whether that is below the limit.", disk.is_nearly_full)
        yield _gauge("headrace_event_streams", "Event streams that are open now.", self._service.streams.count)
        yield from _job_metrics(self._service)
        yield from self._topic_metrics()

    def _topic_metrics(self) -> Iterator[Metric]:
        try:
            topics = self._service.topics.partition_views(BROKER_WAIT_S)
        except HeadraceError:
            yield _gauge("headrace_broker_up", "Whether the broker answered this scrape.", 0)
            return
        yield _gauge("headrace_broker_up", "Whether the broker answered this scrape.", 1)
        yield from _partition_metrics(topics)
        with suppress(HeadraceError):
            yield from _pressure_metrics(self._service.topics.pressure(topics, BROKER_WAIT_S))
            yield from _group_metrics(self._service.topics.group_figures(BROKER_WAIT_S))


def _gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help_text, value=float(value))


def _job_metrics(service: Service) -> Iterator[Metric]:
    figures = service.sampler.sample().jobs
    state = GaugeMetricFamily("headrace_job_state", "1 for the state that a job is in.", labels=[*_JOB, "state"])
    batches = CounterMetricFamily("headrace_job_batches", "Micro-batches that were committed.", labels=_JOB)
    seconds = GaugeMetricFamily("headrace_job_batch_duration_seconds", "How long the last one took.", labels=_JOB)
    restarts = CounterMetricFamily("headrace_job_restarts", "Restarts after failures.", labels=_JOB)
    stalled = GaugeMetricFamily("headrace_job_stalled_seconds", "How long a query has not moved.", labels=_JOB)
    for name, job in figures.items():
        for known in get_args(ShownState):
            state.add_metric([name, known], float(job.state == known))
        batches.add_metric([name], job.batches.count)
        seconds.add_metric([name], job.batches.last_ms / 1000)
    signals = CounterMetricFamily("headrace_job_signals", "Signals, by what became of them.", labels=[*_JOB, "fate"])
    jobs = service.jobs()
    for status in jobs:
        restarts.add_metric([status.pipeline], status.restarts)
        stalled.add_metric([status.pipeline], status.stalled_s)
        for fate, count in _signal_counts(status).items():
            signals.add_metric([status.pipeline, fate], count)
    yield from (state, batches, seconds, restarts, stalled, signals)
    yield from (*_node_metrics(figures), *_copy_metrics(jobs), *_edge_metrics(figures))


def _signal_counts(status: JobStatus) -> Counter[str]:
    counts: Counter[str] = Counter()
    for query in status.queries:
        counts.update(query.signals)
    return counts


def _node_metrics(figures: dict[str, JobFigures]) -> Iterator[Metric]:
    for field, help_text in (
        ("rows_in", "Rows that came into a node."),
        ("rows_out", "Rows that left a node."),
        ("rows_bad", "Records that could not be decoded, and rows that an expression failed for."),
        ("rows_late", "Rows that came too late for their window."),
    ):
        metric = CounterMetricFamily(f"headrace_node_{field}", help_text, labels=_NODE)
        for name, job in figures.items():
            for node, values in job.nodes.items():
                metric.add_metric([name, node], getattr(values, field))
        yield metric
    state = GaugeMetricFamily("headrace_node_state_bytes", "State of a serial operator on disk.", labels=_NODE)
    for name, job in figures.items():
        for node, values in job.nodes.items():
            if values.state_bytes is not None:
                state.add_metric([name, node], values.state_bytes)
    yield state


def _copy_metrics(jobs: Iterable[JobStatus]) -> Iterator[Metric]:
    copies = CounterMetricFamily("headrace_node_copies", "Batches that a node copied to write to.", labels=_NODE)
    copied = CounterMetricFamily("headrace_node_copied_bytes", "Bytes of those batches.", labels=_NODE)
    for status in jobs:
        for node, count in node_counts(status).items():
            copies.add_metric([status.pipeline, node], count.copies_total)
            copied.add_metric([status.pipeline, node], count.copied_bytes_total)
    yield from (copies, copied)


def _edge_metrics(figures: dict[str, JobFigures]) -> Iterator[Metric]:
    rows = CounterMetricFamily("headrace_edge_rows", "Rows that passed along an edge.", labels=_EDGE)
    lag = GaugeMetricFamily("headrace_edge_lag_records", "Records not yet read where an edge begins.", labels=_EDGE)
    for name, job in figures.items():
        for edge in job.edges:
            labels = [name, edge.source, edge.source_port, edge.target, edge.target_port]
            rows.add_metric(labels, edge.rows)
            if edge.lag is not None:
                lag.add_metric(labels, edge.lag)
    yield from (rows, lag)


def _pressure_metrics(topics: dict[str, dict[str, int]]) -> Iterator[Metric]:
    """Of topics with a limited backlog."""
    backlog = GaugeMetricFamily(
        "headrace_topic_backlog_records", "Records that the slowest reader has not read.", labels=_TOPIC
    )
    throttled = CounterMetricFamily("headrace_topic_throttled_requests", "Writes that had to wait.", labels=_TOPIC)
    refused = CounterMetricFamily(
        "headrace_topic_refused_requests", "Writes refused before they were acknowledged.", labels=_TOPIC
    )
    for topic, figures in topics.items():
        backlog.add_metric([topic], figures[BACKLOG])
        throttled.add_metric([topic], figures[BLOCKED])
        refused.add_metric([topic], figures[DROPPED] + figures[TIMED_OUT])
    yield from (backlog, throttled, refused)


def _group_metrics(figures: dict[str, int]) -> Iterator[Metric]:
    """None of a broker that is not ours."""
    if figures:
        yield _gauge("headrace_groups", "Groups with members or committed offsets.", figures[GROUPS])
        yield _gauge("headrace_groups_max", "How many there may be.", figures[GROUPS_MAX])
        help_text = "Requests refused because there were as many groups as there may be."
        yield CounterMetricFamily("headrace_groups_refused_requests", help_text, value=figures[GROUPS_REFUSED])


def _partition_metrics(topics: dict[str, list[PartitionView]]) -> Iterator[Metric]:
    start = GaugeMetricFamily("headrace_partition_start_offset", "First offset that is kept.", labels=_PARTITION)
    end = GaugeMetricFamily("headrace_partition_end_offset", "Offset after the last record.", labels=_PARTITION)
    size = GaugeMetricFamily("headrace_partition_size_bytes", "Bytes on this machine's disk.", labels=_PARTITION)
    for topic, partitions in topics.items():
        for view in partitions:
            labels = [topic, str(view.id)]
            start.add_metric(labels, view.start_offset)
            end.add_metric(labels, view.end_offset)
            if view.bytes is not None:
                size.add_metric(labels, view.bytes)
    yield from (start, end, size)
