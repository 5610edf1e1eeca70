"""Queries that start at the same moment share one environment of the source: a start must not add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from headrace.spark.sources.registration import ENVIRONMENT

if TYPE_CHECKING:
    from tests.spark.conftest import Stack


def shared_environment() -> set[str]:
    session: Any = SparkSession.getActiveSession()
    sources = session._jsparkSession.sessionState().dataSourceManager()
    return set(sources.lookupDataSource("headrace-topic").dataSourceCls().envVars())


def test_start_of_a_query_adds_no_key_to_the_shared_environment(stack: Stack) -> None:
    before = shared_environment()
    topic = stack.topic("shared", [{"k": 1}])
    stack.run(stack.pipeline(f'topic {topic} schema="k BIGINT" ! to-topic {stack.name("out")}'))
    assert before >= set(ENVIRONMENT)
    assert shared_environment() == before
