"""The list of functions is Spark's own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.spark.session.java import find_java
from headrace.sql.functions import SPARK_FUNCTIONS, is_function

# A process of its own: the shared session may hold functions of other tests.
SHOW = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("functions:", " ".join(row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()))
"""


@pytest.mark.slow
@pytest.mark.spark
def test_the_list_is_that_of_the_pinned_spark(tmp_path: Path) -> None:
    environment = {**os.environ, "JAVA_HOME": str(find_java(tmp_path).home), "PYSPARK_PYTHON": sys.executable}
    shown = subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True)
    line = next(line for line in shown.stdout.splitlines() if line.startswith("functions:"))
    named = {name for name in line.split()[1:] if re.fullmatch(r"[a-z_][a-z0-9_]*", name)}
    assert named == SPARK_FUNCTIONS


@pytest.mark.parametrize("name", ["avg", "COUNT", "try_cast", "explode", "Named_Struct"])
def test_known_functions(name: str) -> None:
    assert is_function(name)


@pytest.mark.parametrize("name", ["avgg", "iff", "", "my_udf"])
def test_unknown_functions(name: str) -> None:
    assert not is_function(name)
