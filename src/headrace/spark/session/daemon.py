"""Spark's worker daemon, with the imports of our tasks done before it forks.

A fork of this process is ready at once; a worker that imports pyarrow on its own takes most of a second.
"""

from __future__ import annotations

import gc
import importlib

from headrace.process.python import look_where_the_driver_does
from headrace.spark.session import quiet_daemon
from headrace.spark.session.prepare import is_prepared, prepare

# What a worker of our source and our sink would import after the fork, every time one is started.
PRELOADED = (
    "headrace.log.walk",
    "headrace.spark.chains.frames",
    "headrace.spark.sources.chain_reader",
    "headrace.spark.reading.ranges",
    "headrace.spark.jobs.sink",
    "headrace.spark.sources.topic_source",
    "pyspark.sql.conversion",
    "pyspark.sql.streaming.stateful_processor_util",
    "pyspark.worker",
)


def preload() -> None:
    """All that tasks import, and the compiled code that is there."""
    for module in PRELOADED:
        importlib.import_module(module)
    if is_prepared():
        prepare()
    # Workers collect garbage after every task: what was imported here is never garbage, so it need not be walked.
    gc.freeze()


if __name__ == "__main__":
    look_where_the_driver_does()
    preload()
    quiet_daemon.manager()
