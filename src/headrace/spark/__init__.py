"""Pipelines on Spark: source, sink, compilation, jobs and their events."""

from headrace.spark.engine import QUERIES_MAX, Engine, EngineSettings
from headrace.spark.events import EventBus, PipelineEvent, Subscription
from headrace.spark.status import BatchResult, JobState, JobStatus, NodeCount, QueryStatus

__all__ = [
    "QUERIES_MAX",
    "BatchResult",
    "Engine",
    "EngineSettings",
    "EventBus",
    "JobState",
    "JobStatus",
    "NodeCount",
    "PipelineEvent",
    "QueryStatus",
    "Subscription",
]
