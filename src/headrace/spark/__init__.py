"""Pipelines on Spark; ARCHITECTURE.md tells what is in which folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.spark.engine import QUERIES_MAX, Engine
    from headrace.spark.jobs.events import EventBus, PipelineEvent, Subscription
    from headrace.spark.jobs.status import BatchResult, JobState, JobStatus, NodeCount, QueryStatus
    from headrace.spark.jobs.workplace import EngineSettings

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

# Spark's worker processes import modules of this package by the dozen: none of them should load the engine.
__getattr__ = exporter(
    __name__,
    {
        **dict.fromkeys(("QUERIES_MAX", "Engine"), "engine"),
        "EngineSettings": "jobs.workplace",
        **dict.fromkeys(("EventBus", "PipelineEvent", "Subscription"), "jobs.events"),
        **dict.fromkeys(("BatchResult", "JobState", "JobStatus", "NodeCount", "QueryStatus"), "jobs.status"),
    },
)
