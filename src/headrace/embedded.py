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
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from headrace.credential import credential_path, use_credential
from headrace.errors import InvalidInput, JobFailed
from headrace.graph import Builder, Document
from headrace.kafka import Reader, Sender
from headrace.process import Child, Command, DataDirectory
from headrace.process.ports import LOOPBACK
from headrace.signals import SignalRecord
from headrace.spark import BatchResult, Engine, EngineSettings, EventBus, JobStatus
from headrace.spark.jobs.beginning import Begin
from headrace.spark.jobs.sending import signal_to
from headrace.sql import Ask, print_statement, read_requests
from headrace.tables import Tables, declared_in
from headrace.wire.client import Client
from headrace.wire.client.signals import known_signals, send_signal

BROKER_START_TIMEOUT_S: Final = 60.0
IDLE_TIMEOUT_S: Final = 120.0

_log = logging.getLogger(__name__)

Row: TypeAlias = Mapping[str, Any]


def local(
    data_directory: Path | str | None = None, *, port: int = 0, spark_conf: Mapping[str, str] | None = None
) -> Local:
    """To be used in a `with` statement. Without a directory everything is kept in a temporary one, removed at the end.

    One process can hold one at a time, for Spark has one session per process.
    """
    return Local(data_directory, port=port, spark_conf=spark_conf)


class Local:
    """Everything runs from the start of the `with` block to its end; what was started in it is stopped there."""

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

    def __enter__(self) -> Self:
        """Raises Conflict for a directory or port in use, ExternalFailure when broker or Spark do not start."""
        with ExitStack() as opening:
            directory = self._given or Path(opening.enter_context(_temporary_directory()))
            data = opening.enter_context(DataDirectory.open(directory))
            if data.note is not None:
                _log.warning(data.note)
            broker = _start_broker(data, self._port)
            opening.callback(broker.stop)
            self._bootstrap = f"{LOOPBACK}:{broker.wait_ready(BROKER_START_TIMEOUT_S)['port']}"
            use_credential(self._bootstrap, credential_path(data.path / "log"))
            settings = EngineSettings(data.path, self._bootstrap, data.path / "log", spark_conf=self._spark_conf)
            self._engine = opening.enter_context(Engine(settings))
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._asked is not None:
            self._asked.close()
        self._open.close()
        self._engine, self._bootstrap, self._sender, self._asked = None, None, None, None

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

    def produce(self, topic: str, rows: Iterable[Row | str | bytes | None], *, key: str | None = None) -> int:
        """How many records were sent; all are on disk afterwards. Mappings are written as JSON.

        `key` names the field that becomes the record's key. Raises ExternalFailure when the broker refuses one.
        """
        sender = self._sender = self._sender or Sender(self.bootstrap, client_id="headrace-local")
        before = sender.sent
        for row in rows:
            sender.send(topic, _value(row), _key(row, key))
        sender.flush()
        return sender.sent - before

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

    def rows(self, topic: str) -> list[dict[str, Any]]:
        """All committed records of a topic, read as JSON, partition by partition in order. Raises NotFound."""
        with Reader(self.bootstrap, topic, client_id="headrace-local") as reader:
            return [json.loads(record.value or b"null") for record in reader.records()]

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


def _start_broker(data: DataDirectory, port: int) -> Child:
    arguments = ("--data-dir", str(data.path / "log"), "--port", str(port))
    log_path = data.path / "logs" / "broker.log"
    return Child(Command("broker", "headrace.wire", arguments, log_path, inherited=(data.lock_descriptor,)))


def _document(pipeline: Builder | Document) -> Document:
    return pipeline.document() if isinstance(pipeline, Builder) else pipeline


def _name(pipeline: Builder | Document | str) -> str:
    return pipeline if isinstance(pipeline, str) else pipeline.name


def _value(row: Row | str | bytes | None) -> bytes | None:
    if row is None or isinstance(row, bytes):
        return row
    return row.encode() if isinstance(row, str) else json.dumps(row, default=_written).encode()


def _written(value: object) -> str:
    """Dates and times as ISO 8601; anything else would be a guess."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise InvalidInput(f"{value!r} is nothing that JSON can say")


def _key(row: Row | str | bytes | None, key: str | None) -> bytes | None:
    if key is None:
        return None
    if not isinstance(row, Mapping) or key not in row:
        known = sorted(row) if isinstance(row, Mapping) else ()
        raise InvalidInput(f"a row without the field {key!r}, which is to be its key", valid=known)
    found = row[key]
    return found.encode() if isinstance(found, str) else json.dumps(found, default=_written).encode()


def _not_open() -> InvalidInput:
    return InvalidInput("nothing runs here", hint="use it as `with headrace.local() as h:`")
