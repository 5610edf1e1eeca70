from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headrace.operators.testing import Trial

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def trial(spark: SparkSession) -> Trial:
    return Trial(spark)
