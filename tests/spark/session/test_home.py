"""Workers import the installed pyspark: the zipped one is compiled anew in every process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.spark.session.home import spark_home


@pytest.mark.spark
def test_workers_import_the_installed_package(spark: SparkSession) -> None:
    def where(_: int) -> str:
        import pyspark

        return pyspark.__file__

    assert ".zip" not in spark.sparkContext.parallelize([0], 1).map(where).first()


def test_a_home_that_the_user_names_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with spark_home(tmp_path):
        assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert not list(tmp_path.iterdir())


def test_the_home_has_no_zip_and_is_named_only_while_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    for _ in range(2):
        with spark_home(tmp_path):
            home = Path(os.environ["SPARK_HOME"])
            assert (home / "bin" / "spark-submit").exists()
            assert not (home / "python").exists()
        assert "SPARK_HOME" not in os.environ
