"""The Spark session: settings for small machines, quiet logs, workers that start warm."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import ExternalFailure
from headrace.process.private import PRIVATE_UMASK
from headrace.process.python import SAFE_PATH_VARIABLE, safe_python
from headrace.spark.session.begun import begin, is_begun, take_begun
from headrace.spark.session.fork_server import start_fork_server
from headrace.spark.session.home import spark_home
from headrace.spark.session.java import java_home
from headrace.spark.session.launch import Launch, forget_command, found_by_pyspark, keep_command, launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A slow query must not starve the others, so there are more task slots than cores; 3 = tries of a task.
TASK_SLOTS = max(8, 4 * (os.cpu_count() or 2))
TASK_TRIES = 3

# The gateway's own level, or Spark sets it to WARN, and prints that.
_LOG4J = """rootLogger.level = error
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {directory}/spark.log
appender.file.filePattern = {directory}/spark.%i.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd'T'HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = SizeBasedTriggeringPolicy
appender.file.policies.size = 16MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
"""

_NO_COMMAND = "headrace-looks-for-no-data-sources"

# A query that has not ended after so long does not end.
STOP_TIMEOUT_S = 30

# One store for both sides of a join, rows found by their time.
JOIN_STATE_FORMAT = "4"


_JAVA_OPTIONS = (
    # Java without memory neither works nor ends: it is better started again.
    "-XX:+UseParallelGC -Xss2m -XX:+ExitOnOutOfMemoryError"
    # Java's second compiler takes a third of the work of a start. It comes in for code that runs ten times as often as
    # Java would have it: what a stream does all the time still gets there.
    " -XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000"
    " -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """`master` is local by default, or `spark://…` or `k8s://…`; `java_options` are the driver's, beside those that it
    always has; `extra` wins over everything here."""

    directory: Path
    master: str = f"local[{TASK_SLOTS},{TASK_TRIES}]"
    driver_memory_mb: int = 1024
    shuffle_partitions: int = field(default_factory=lambda: os.cpu_count() or 2)
    java_options: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @classmethod
    def below(
        cls,
        data_directory: Path,
        master: str | None,
        shuffle_partitions: int | None,
        extra: dict[str, str],
    ) -> SparkSettings:
        """Of an engine that keeps its files there."""
        own = cls(data_directory / "spark", extra=extra)
        own = own if master is None else replace(own, master=master)
        return own if shuffle_partitions is None else replace(own, shuffle_partitions=shuffle_partitions)


def begin_session(settings: SparkSettings) -> None:
    """Starts Java and then the session, while the process imports what it needs; `start_session` waits for it.

    Does nothing where Java's command is not known yet.
    """
    conf = _prepared(settings)
    launched = _launched(settings, conf)
    if launched is not None:
        begin(settings, launched, lambda: _session_in(settings, conf, launched))


def is_session_foreign(settings: SparkSettings) -> bool:
    """Whether this process has a session that was not begun here."""
    from pyspark import SparkContext  # noqa: PLC0415

    return not is_begun(settings) and SparkContext._active_spark_context is not None


def _prepared(settings: SparkSettings) -> dict[str, str]:
    """All that Java finds in files and in the environment. Returns the settings of the session."""
    settings.directory.mkdir(parents=True, exist_ok=True)
    # Spark looks for packages with data sources in a Python process of its own, where this is a command. Ours are
    # registered by name.
    os.environ["PYSPARK_DRIVER_PYTHON"] = _NO_COMMAND
    is_local = settings.master.startswith("local")
    os.environ["PYSPARK_PYTHON"] = start_fork_server().python if is_local else sys.executable
    log4j = settings.directory / "log4j2.properties"
    log4j.write_text(_LOG4J.format(directory=settings.directory))
    return {"spark.master": settings.master, "spark.app.name": "headrace", **session_conf(settings, log4j)}


def _launched(settings: SparkSettings, conf: dict[str, str]) -> Launch | None:
    with spark_home(settings.directory), safe_python():
        return launch(settings.directory, conf)


def start_session(settings: SparkSettings) -> SparkSession:
    """Starts the JVM, or takes the running one. Raises ExternalFailure when Java is missing or does not start."""
    from pyspark.errors import PySparkException  # noqa: PLC0415  (pyspark costs half a second: only where it is used)

    try:
        begun = take_begun(settings)
        return _session(settings) if begun is None else begun
    except (PySparkException, OSError, RuntimeError) as error:
        raise ExternalFailure(f"Spark does not start: {error}", hint="headrace doctor shows what is missing") from error


def _session(settings: SparkSettings) -> SparkSession:
    from pyspark import SparkContext  # noqa: PLC0415

    conf = _prepared(settings)
    if SparkContext._gateway is None:
        launched = _launched(settings, conf)
        session = None if launched is None else _session_in(settings, conf, launched)
        if session is not None:
            return session
        with spark_home(settings.directory):
            forget_command(settings.directory, conf)
    with java_home(settings.directory), spark_home(settings.directory), safe_python():
        session = _configured(conf).getOrCreate()
    _keep_java(settings, conf)
    return _readied(session)


def _session_in(settings: SparkSettings, conf: Mapping[str, str], launched: Launch) -> SparkSession | None:
    """In a Java of ours, once it is there. None where it does not come: then Spark's scripts must start one."""
    builder = _configured(conf)  # imports pyspark meanwhile
    connection = launched.connection()
    if connection is None:
        return None
    from pyspark import SparkContext  # noqa: PLC0415

    with found_by_pyspark(*connection):
        SparkContext._ensure_initialized()
    # Whoever asks pyspark for its Java process finds ours too.
    gateway: Any = SparkContext._gateway
    gateway.proc = launched.process
    return _readied(builder.getOrCreate())


def _configured(conf: Mapping[str, str]) -> SparkSession.Builder:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder


def _readied(session: SparkSession) -> SparkSession:
    _let_snapshots_be_copied(session)
    _guard_callbacks(session.sparkContext._gateway)
    return session


def _keep_java(settings: SparkSettings, conf: Mapping[str, str]) -> None:
    """How Spark's scripts started Java is kept for the next start."""
    from pyspark import SparkContext  # noqa: PLC0415

    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is not None:
        with spark_home(settings.directory):
            keep_command(settings.directory, conf, process.pid)


def _let_snapshots_be_copied(session: SparkSession) -> None:
    """Hadoop's copy of a local file insists on the slow kind of local file system, and so do snapshots of state: the
    raw one gets a configuration of its own, in which its copies find that kind."""
    jvm: Any = session._jvm
    hadoop = jvm.org.apache.hadoop
    local = hadoop.fs.FileSystem.get(jvm.java.net.URI("file:///"), session._jsc.hadoopConfiguration())
    own = hadoop.conf.Configuration(local.getConf())
    own.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")
    own.set("fs.file.impl.disable.cache", "true")
    local.setConf(own)


def _guard_callbacks(gateway: Any) -> None:
    """The JVM calls this process by a port. There it must show the token that this process shows to the JVM.

    Spark asks for none. Py4J would show it, but forgets it when it is told the port.
    """
    from py4j.java_gateway import JavaObject  # noqa: PLC0415
    from pyspark.java_gateway import ensure_callback_server_started  # noqa: PLC0415

    token = gateway.python_parameters.auth_token = gateway.java_parameters.auth_token
    # Whoever can reach the port could fill the log otherwise.
    log = logging.getLogger("py4j.clientserver")
    if _is_no_refusal not in log.filters:
        log.addFilter(_is_no_refusal)
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    caller = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient()
    shown = gateway.jvm.java.lang.Class.forName("py4j.CallbackClient").getDeclaredField("authToken")
    shown.setAccessible(True)
    shown.set(caller, token)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith("Could not authenticate connection")


def session_conf(settings: SparkSettings, log4j: Path) -> dict[str, str]:
    """Each line away from Spark's default has its reason beside it."""
    checkpointing = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    state_store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    java_options = f"-Dlog4j2.configurationFile=file:{log4j} {_JAVA_OPTIONS} {settings.java_options}"
    return {
        "spark.driver.host": "127.0.0.1",  # loopback only
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        **_authentication(settings.master),
        "spark.driver.memory": f"{settings.driver_memory_mb}m",
        "spark.driver.extraJavaOptions": java_options.strip(),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(settings.shuffle_partitions),
        "spark.sql.adaptive.enabled": "false",  # the number of partitions must not change under a stream
        "spark.sql.warehouse.dir": str(settings.directory / "warehouse"),
        "spark.local.dir": str(settings.directory / "local"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.execution.arrow.maxBytesPerBatch": "64m",  # a packet for a lane is a row of megabytes
        f"spark.executorEnv.{SAFE_PATH_VARIABLE}": "1",  # workers elsewhere import nothing from where they run
        "spark.python.worker.reuse": "true",
        "spark.python.daemon.module": "headrace.spark.session.daemon",  # forks workers that have imported everything
        "spark.python.unix.domain.socket.enabled": "true",  # halves the task part of a small batch
        "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no .crc files, no chmod forks
        "spark.hadoop.fs.permissions.umask-mode": f"{PRIVATE_UMASK:03o}",  # checkpoints and state are the owner's
        "spark.sql.streaming.checkpointFileManagerClass": checkpointing,
        "spark.sql.streaming.stateStore.providerClass": state_store,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.join.stateFormatVersion": JOIN_STATE_FORMAT,
        "spark.sql.streaming.minBatchesToRetain": "10",
        "spark.sql.streaming.numRecentProgressUpdates": "20",
        "spark.sql.streaming.noDataProgressEventInterval": "10000",
        "spark.sql.streaming.stopTimeout": f"{STOP_TIMEOUT_S}s",
        "spark.ui.showConsoleProgress": "false",
        **settings.extra,
    }


def _authentication(master: str) -> dict[str, str]:
    """Spark makes a secret for itself where it starts all of its processes; a standalone cluster has one of its own."""
    return {"spark.authenticate": "true"} if master.startswith(("local", "k8s")) else {}
