"""Makes our data sources known to Spark, safe for queries that start at the same moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headrace.spark.sources.python_source import PythonDataSource
from headrace.spark.sources.table_reader import TableDataSource
from headrace.spark.sources.topic_source import TopicDataSource
from headrace.spark.sources.trigger_source import TriggerDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What Spark puts into the environment of a source's process when a query starts.
ENVIRONMENT: Final = ("SPARK_LOCAL_DIRS", "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE", "SPARK_PYTHON_RUNTIME")


def register_source(spark: SparkSession) -> None:
    """Called once a session, before any query starts.

    Spark keeps one environment, a plain HashMap, for all queries of a source, writes to it when a query starts, and
    sends it with every task. Two starts at once that both add a key can leave it with a wrong size, and then no task of
    any query can be read again. With the keys there from the beginning, a start only replaces values.
    """
    environment = spark.sparkContext.environment
    added = [key for key in ENVIRONMENT if key not in environment]
    environment.update(dict.fromkeys(added, ""))
    try:
        for source in (TopicDataSource, PythonDataSource, TableDataSource, TriggerDataSource):
            spark.dataSource.register(source)
    finally:
        for key in added:
            del environment[key]
