"""Public names are there, `import headrace` stays light, and test folders are no packages."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import headrace

TESTS = Path(__file__).parent
PACKAGES = ["headrace", *(f"headrace.{found.name}" for found in pkgutil.iter_modules(headrace.__path__) if found.ispkg)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_resolves(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__)) > 0
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_packages_were_found() -> None:
    assert {"headrace", "headrace.log", "headrace.wire", "headrace.graph", "headrace.spark"} <= set(PACKAGES)


def test_importing_headrace_loads_no_spark_and_no_columns() -> None:
    code = "import headrace, sys; print(*sorted({'pyspark', 'py4j', 'pyarrow', 'pandas', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Pipline"):
        getattr(headrace, "Pipline")  # noqa: B009  (the name is wrong on purpose)


def test_no_folder_of_tests_is_a_package() -> None:
    assert not list(TESTS.rglob("__init__.py"))


def test_a_broker_starts_without_what_it_may_never_need() -> None:
    """What it imports is most of the time until it serves."""
    unwanted = {"pyspark", "pyarrow", "numba", "kio", "pydantic", "rich", "confluent_kafka", "aiokafka", "obstore"}
    code = f"import headrace.wire.process, sys; print(*sorted({unwanted} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""


def test_whoever_asks_a_server_loads_no_operators() -> None:
    """What one command imports is most of the time until its answer."""
    unwanted = {"pyspark", "pyarrow", "pandas", "numba", "starlette", "headrace.operators.catalogue"}
    asked = "read_requests('SELECT upper(a), count(*) FROM t')"
    code = f"import headrace.server.client, sys; from headrace.sql import read_requests; {asked}"
    code += f"; print(*sorted({unwanted} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""
