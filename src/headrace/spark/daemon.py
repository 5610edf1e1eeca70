"""Spark's worker daemon, with the imports of our data source done before it forks.

A fork of this process is ready at once; a worker that imports pyarrow on its own takes most of a second.
"""

from __future__ import annotations

import gc

from pyspark import daemon

import headrace.spark.reading
import headrace.spark.sink
import headrace.spark.source  # noqa: F401

if __name__ == "__main__":
    # Workers collect garbage after every task: what was imported here is never garbage, so it need not be walked.
    gc.freeze()
    daemon.manager()
