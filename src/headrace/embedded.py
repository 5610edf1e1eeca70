"""Headrace inside a script, a notebook or a test: a broker beside it, the engine in it.

with headrace.local() as h:
    h.create_topic("telemetry")
    h.produce("telemetry", [{"drone": "a", "battery": 12.5}])
    h.start(headrace.Pipeline.from_sql("…"))
    h.wait_idle()
    print(h.rows("alerts"))
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, overload

from headrace.credential import credential_path, use_credential
from headrace.errors import Conflict, ExternalFailure, InvalidInput, JobFailed
from headrace.graph import Builder, Document
from headrace.json_records import Form, in_form, messages_of
from headrace.kafka import Reader, Sender
from headrace.operators import WatchedCatalogue
from headrace.process import Child, Command, DataDirectory
from headrace.process.ports import LOOPBACK
from headrace.process.secrets import FOLDER, FOLDER_VARIABLE
from headrace.signals import SignalRecord
from headrace.spark import BatchResult, Engine, EngineSettings, EventBus, JobStatus
from headrace.spark.jobs.beginning import Begin
from headrace.spark.jobs.sending import signal_to
from headrace.spark.session.begun import abandon_session
from headrace.spark.session.session import begin_session
from headrace.sql import Ask, print_statement, read_requests
from headrace.tables import Tables, declared_in
from headrace.wire.client import Client
from headrace.wire.client.signals import known_signals, send_signal

if TYPE_CHECKING:
    import pyarrow as pa

BROKER_START_TIMEOUT_S: Final = 60.0
IDLE_TIMEOUT_S: Final = 120.0

_log = logging.getLogger(__name__)

Rows: TypeAlias = "Iterable[Any] | pa.Table | pa.RecordBatch"


def local(
    data_directory: Path | str | None = None, *, port: int = 0, spark_conf: Mapping[str, str] | None = None
) -> Local:
    """For a `with` statement, or `open()` and `close()` in a notebook. Without a directory everything is kept in a
    temporary one, removed at the end.

    One process can hold one at a time, for Spark has one session per process.
    """
    return Local(data_directory, port=port, spark_conf=spark_conf)


class Local:
    """Everything runs from the start of the `with` block to its end, or from `open` to `close`; what was started in it
    is stopped there."""

    def __init__(
        self, data_directory: Path | str | None, *, port: int = 0, spark_conf: Mapping[str, str] | None = None
    ) -> None:
        self._given = None if data_directory is None else Path(data_directory)
        self._port = port
        self._spark_conf = dict(spark_conf or {})
        self._open = ExitStack()
        self._bootstrap: str | None = None
        self._engine: Engine | None = None
        self._sender: Sender | None = None
        self._asked: Tables | None = None

    def open(self) -> Self:
        """For notebooks, where no block lasts long enough: `h = headrace.local().open()`, and `h.close()` at the end.

        Raises Conflict for a directory or port in use, or if it is open already; ExternalFailure when broker or Spark
        do not start.
        """
        if self._engine is not None:
            raise Conflict("this is open already", hint="go on with it, or close() it first")
        with ExitStack() as opening:
            directory = self._given or Path(opening.enter_context(_temporary_directory()))
            data = opening.enter_context(DataDirectory.open(directory))
            if data.note is not None:
                _log.warning(data.note)
            # Side by side, the broker first: what Spark has in the environment meanwhile is not for it.
            broker = _start_broker(data, self._port)
            opening.callback(broker.stop)
            _begin_spark(self._settings(data.path, ""))
            opening.callback(abandon_session)
            self._bootstrap = f"{LOOPBACK}:{broker.wait_ready(BROKER_START_TIMEOUT_S)['port']}"
            use_credential(self._bootstrap, credential_path(data.path / "log"))
            settings = self._settings(data.path, self._bootstrap)
            self._engine = opening.enter_context(Engine(settings, WatchedCatalogue()))
            self._open = opening.pop_all()
        return self

    def _settings(self, directory: Path, bootstrap: str) -> EngineSettings:
        return EngineSettings(
            directory,
            bootstrap,
            directory / "log",
            spark_conf=self._spark_conf,
            by_value=True,
        )

    def close(self) -> None:
        """Stops what was started here. What is closed already stays so; it can be opened again."""
        if self._asked is not None:
            self._asked.close()
        self._open.close()
        self._engine, self._bootstrap, self._sender, self._asked = None, None, None, None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def bootstrap(self) -> str:
        """The broker's address, for any Kafka client."""
        if self._bootstrap is None:
            raise _not_open()
        return self._bootstrap

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise _not_open()
        return self._engine

    @property
    def events(self) -> EventBus:
        """What happens to pipelines: `for event in h.events.follow(): …`."""
        return self.engine.events

    def create_topic(self, name: str, *, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        """A topic that exists already stays as it is."""
        with Client(self.bootstrap) as client:
            client.create_topics({name: partitions}, config, exist_ok=True)

    def produce(self, topic: str, rows: Rows, *, key: str | None = None) -> int:
        """How many records were sent; all are on disk afterwards. Rows are written as JSON objects, texts as they are.

        `rows` is a list or other iterable of dicts, dataclasses, str, bytes or None, an Arrow table, or a DataFrame of
        pandas or polars. `key` names the field that becomes the record's key. Every row is encoded before the first is
        sent: InvalidInput for a bad one means that none was. Raises ExternalFailure when the broker refuses one.
        """
        messages = messages_of(rows, key)
        sender = self._sender = self._sender or Sender(self.bootstrap, client_id="headrace-local")
        try:
            for message in messages:
                sender.send(topic, message.value, message.key)
            sender.flush()
        except ExternalFailure:
            # It would say the same of all that comes after.
            self._sender = None
            raise
        return len(messages)

    def start(
        self, pipeline: Builder | Document, *, reset: bool = False, begin: Begin | None = None
    ) -> JobStatus:  # fmt: skip
        """`begin` is where queries begin that cannot go on exactly from their last commit.

        Raises InvalidGraph for one that cannot run, NotFound for a source topic that is not there, NeedsBegin,
        Conflict.
        """
        return self.engine.start(_document(pipeline), reset=reset, begin=begin)

    def signal(
        self,
        kind: str,
        pipeline: Builder | Document | str,
        *,
        node: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        handling: str = "once",
        id: str | None = None,
    ) -> SignalRecord:
        """A signal to a pipeline that was started: in its place, on disk, when this returns; `cut` says where.

        Raises InvalidInput, NotFound for the pipeline or the node.
        """
        document = self.engine.document(pipeline) if isinstance(pipeline, str) else _document(pipeline)
        request = signal_to(
            document, kind, self.engine.catalogue, node=node, parameters=parameters, handling=handling, id=id
        )
        with Client(self.bootstrap) as client:
            return send_signal(client, request)

    def signals(self) -> list[SignalRecord]:
        """All that the broker still knows, in order."""
        with Client(self.bootstrap) as client:
            return known_signals(client)

    def stop(self, pipeline: Builder | Document | str) -> JobStatus:
        return self.engine.stop(_name(pipeline))

    def status(self, pipeline: Builder | Document | str) -> JobStatus:
        return self.engine.status(_name(pipeline))

    def run_batch(self, pipeline: Builder | Document, *, start: str = "earliest", end: str = "latest") -> BatchResult:
        """The pipeline once over what is there; its rows are visible afterwards."""
        return self.engine.run_batch(_document(pipeline), start=start, end=end)

    def wait_idle(self, pipeline: Builder | Document | str | None = None, timeout_s: float = IDLE_TIMEOUT_S) -> bool:
        """Waits until one pipeline, or each that runs, has committed all that was in its topics at the call.

        False when it took too long. Raises JobFailed when the pipeline fails meanwhile.
        """
        if pipeline is not None:
            return self._wait(_name(pipeline), timeout_s)
        running = [job.pipeline for job in self.engine.jobs() if job.state != "stopped"]
        return all(self._wait(name, timeout_s) for name in running)

    @overload
    def rows(self, topic: str) -> list[dict[str, Any]]: ...
    @overload
    def rows(self, topic: str, form: Literal["dicts"]) -> list[dict[str, Any]]: ...
    @overload
    def rows(self, topic: str, form: Literal["arrow"]) -> pa.Table: ...
    @overload
    def rows(self, topic: str, form: Literal["pandas", "polars"]) -> Any: ...

    def rows(self, topic: str, form: Form = "dicts") -> Any:
        """All committed records of a topic, read as JSON, partition by partition in order: as a list of dicts, an Arrow
        table, or a DataFrame of pandas or polars.

        A record without a value is None in the list, and a row of nulls in a table. Raises NotFound, and InvalidInput
        for a record that is no JSON, or no row.
        """
        with Reader(self.bootstrap, topic, client_id="headrace-local") as reader:
            return in_form(reader.records(), form)

    def sql(self, question: str) -> list[dict[str, Any]]:
        """What a SELECT says over tables of pipelines that were started, or that CREATE TABLE before it declares.

        Raises NotFound for a table that is not there, InvalidInput for what cannot be answered.
        """
        requests = read_requests(question)
        if not requests or not isinstance(requests[-1].operation, Ask):
            raise InvalidInput("this asks nothing", hint="SELECT … FROM table WHERE …")
        asked = requests[-1]
        own = declared_in(asked.definitions, self.engine.catalogue) if asked.definitions else ()
        return self._tables.ask(print_statement(asked.operation), own).as_objects()

    @property
    def _tables(self) -> Tables:
        """Copies are brought up to date when they are asked."""
        if self._asked is None:
            engine = self.engine
            path = engine.settings.data_directory / "tables.sqlite"
            self._asked = Tables(
                path,
                engine.location,
                lambda: [engine.document(job.pipeline) for job in engine.jobs()],
                engine.catalogue,
            )
        return self._asked

    def preview(self, pipeline: Builder | Document | str, node: str) -> list[dict[str, Any]]:
        """The newest rows of a preview node, the newest last."""
        return [json.loads(row) for row in self.engine.preview(_name(pipeline), node)]

    def _wait(self, name: str, timeout_s: float) -> bool:
        idle = self.engine.wait_idle(name, timeout_s)
        status = self.engine.status(name)
        if status.state == "failed":
            raise JobFailed(f"pipeline {name!r} failed: {(status.error or {}).get('message')}")
        return idle


def _temporary_directory() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="headrace-", ignore_cleanup_errors=True)


def _begin_spark(settings: EngineSettings) -> None:
    """Unless this process has a Java already."""
    pyspark = sys.modules.get("pyspark")
    if pyspark is not None and pyspark.SparkContext._gateway is not None:
        return
    os.environ[FOLDER_VARIABLE] = str(settings.data_directory.absolute() / FOLDER)
    with suppress(OSError):  # told when the session is started
        begin_session(settings.of_spark)


def _start_broker(data: DataDirectory, port: int) -> Child:
    arguments = ("--data-dir", str(data.path / "log"), "--port", str(port))
    log_path = data.path / "logs" / "broker.log"
    return Child(Command("broker", "headrace.wire", arguments, log_path, inherited=(data.lock_descriptor,)))


def _document(pipeline: Builder | Document) -> Document:
    return pipeline.document() if isinstance(pipeline, Builder) else pipeline


def _name(pipeline: Builder | Document | str) -> str:
    return pipeline if isinstance(pipeline, str) else pipeline.name


def _not_open() -> InvalidInput:
    return InvalidInput("nothing runs here", hint="use it as `with headrace.local() as h:`, or call open() first")
