"""A real Apache Kafka node in KRaft mode, from Maven's jars: the peer that the log is measured beside."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from headrace.bench.connector import PLUGIN, REPOSITORY
from headrace.errors import ExternalFailure
from headrace.spark.session.java import find_java

VERSION: Final = "4.1.0"
HEAP: Final = "-Xmx1g"
FETCH_TIMEOUT_S: Final = 240
FORMAT_TIMEOUT_S: Final = 60
CLUSTER_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
NODE: Final = f"org.apache.kafka:kafka_2.13:{VERSION}"

_CLASSPATH_GOAL: Final = PLUGIN.replace(":get", ":build-classpath")
_POM: Final = """<project><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>bench</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies></project>
"""
_DEPENDENCY: Final = """
<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"""
_PROPERTIES: Final = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
controller.listener.names=CONTROLLER
log.dirs={log_directory}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
message.max.bytes=4194304
"""


def kafka_classpath(folder: str = f"kafka-{VERSION}", artifacts: Sequence[str] = (NODE,)) -> str:
    """Jars of the node, or of other artifacts of Maven, fetched once into its local repository. Raises ExternalFailure.

    `folder` keeps the list of jars that the artifacts need.
    """
    directory = REPOSITORY.parent / "headrace-bench" / folder
    listed = directory / "classpath"
    if listed.exists() and all(Path(jar).exists() for jar in listed.read_text().split(":")):
        return listed.read_text()
    directory.mkdir(parents=True, exist_ok=True)
    dependencies = "".join(_DEPENDENCY.format(*artifact.split(":")) for artifact in artifacts)
    (directory / "pom.xml").write_text(_POM.format(dependencies=dependencies))
    command = ["mvn", "-q", "-B", _CLASSPATH_GOAL, f"-Dmdep.outputFile={listed}"]
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=FETCH_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExternalFailure(f"{type(error).__name__} from mvn", hint="Kafka's jars are fetched with mvn") from None
    if done.returncode or not listed.exists():
        raise ExternalFailure(f"mvn ended with code {done.returncode}: {', '.join(artifacts)} cannot be had")
    return listed.read_text()


def start_kafka(directory: Path, port: int, controller_port: int) -> tuple[subprocess.Popen[bytes], float]:
    """A node on an empty directory, and when it was started. Raises ExternalFailure."""
    directory.mkdir(parents=True, exist_ok=True)
    properties = directory / "server.properties"
    properties.write_text(
        _PROPERTIES.format(port=port, controller_port=controller_port, log_directory=directory / "log")
    )
    java = [str(find_java(directory).home / "bin" / "java"), HEAP, "-cp", kafka_classpath()]
    form = [*java, "kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER_ID, "--config", str(properties)]
    done = subprocess.run(form, capture_output=True, text=True, timeout=FORMAT_TIMEOUT_S, check=False)
    if done.returncode:
        raise ExternalFailure(f"Kafka cannot format its directory: {(done.stderr or done.stdout)[-300:]}")
    with (directory / "output").open("wb") as output:
        began_s = time.monotonic()
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=output, stderr=output)
    return process, began_s
