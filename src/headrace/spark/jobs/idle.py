"""When a job has read all that there was, and committed what follows from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from headrace.errors import EngineLost
from headrace.spark.jobs.job import Job
from headrace.spark.jobs.query import RunningQuery
from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import TopicLocation

_POLL_S: Final = 0.05


def wait_idle(job: Job, location: Callable[[str], TopicLocation], timeout_s: float) -> bool:
    """As `Engine.wait_idle`."""
    deadline_s = time.monotonic() + timeout_s
    targets = _targets(job, location)
    while time.monotonic() < deadline_s and job.state in ("starting", "running"):
        if all(_reached(running, targets) for running in job.queries):
            return True
        time.sleep(_POLL_S)
    return False


def _targets(job: Job, location: Callable[[str], TopicLocation]) -> dict[str, int]:
    """Topic partition → end, for all that the job reads."""
    targets: dict[str, int] = {}
    for name in {name for running in job.queries for name in running.progress.topics.values()}:
        with closing(open_topic(location(name))) as topic:
            targets |= {f"{name}-{partition}": end for partition, (_, end) in topic.bounds().items()}
    return targets


def _reached(running: RunningQuery, targets: Mapping[str, int]) -> bool:
    positions = running.progress.positions.items()
    # In this order: what was read last may still have to be counted.
    try:
        return all(offset >= targets.get(partition, 0) for partition, offset in positions) and running.is_settled
    except EngineLost:
        return False  # it comes back
