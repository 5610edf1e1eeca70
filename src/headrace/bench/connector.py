"""Spark's own Kafka connector, which is not in pyspark's wheel: found in Maven's local repository, or fetched."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Final

from headrace.errors import ExternalFailure

FETCH_TIMEOUT_S: Final = 120
PLUGIN: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get"
SCALA: Final = "2.13"
# The connector of another minor version runs as well; some repositories lag behind.
OLDER_SPARK: Final = ("4.2.0", "4.1.0", "4.0.0")

REPOSITORY: Final = Path.home() / ".m2" / "repository"


def kafka_connector() -> dict[str, str]:
    """Spark settings that load it. Raises ExternalFailure when it is not here and cannot be fetched."""
    wanted = version("pyspark")
    spark = tuple(dict.fromkeys((wanted, *OLDER_SPARK)))
    if not shutil.which("mvn") and not REPOSITORY.exists():
        return {"spark.jars.packages": f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:{wanted}"}
    parts = {
        f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}": spark,
        f"org.apache.spark:spark-token-provider-kafka-0-10_{SCALA}": spark,
        "org.apache.kafka:kafka-clients": ("3.9.1",),
        "org.apache.commons:commons-pool2": ("2.12.0",),
    }
    return {"spark.jars": ",".join(str(_jar(artifact, versions)) for artifact, versions in parts.items())}


def _jar(artifact: str, versions: Iterable[str]) -> Path:
    """The first version that is here already, else the first that can be fetched."""
    reasons: list[str] = []
    for find, release in product((_found, _fetched), versions):
        found = find(artifact, release)
        if isinstance(found, Path):
            return found
        reasons.append(found)
    raise ExternalFailure(f"{artifact} cannot be had: {reasons[-1]}")


def _found(artifact: str, release: str) -> Path | str:
    group, _, name = artifact.partition(":")
    path = REPOSITORY.joinpath(*group.split("."), name, release, f"{name}-{release}.jar")
    return path if path.exists() else f"{artifact}:{release} is not in the local repository"


def _fetched(artifact: str, release: str) -> Path | str:
    command = ["mvn", "-q", "-B", PLUGIN, f"-Dartifact={artifact}:{release}", "-Dtransitive=false"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__} from mvn"
    if done.returncode == 0:
        return _found(artifact, release)
    error_lines = re.findall(r"^\[ERROR\] (.+)", done.stdout, re.MULTILINE)
    return error_lines[0] if error_lines else f"mvn ended with code {done.returncode}"
