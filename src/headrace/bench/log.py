"""The suite `log`: the broker beside Apache Kafka, loaded by the same C client in the same run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from headrace.bench import processes
from headrace.bench.log_brokers import Broker, Kafka, Ours, Topics, unavailable
from headrace.bench.log_open import measure_open
from headrace.bench.log_runs import Measured, run_load
from headrace.bench.peers import Say
from headrace.bench.report import Report, Result
from headrace.errors import HeadraceError, InvalidInput, did_you_mean

# Java compiles what is hot in the first round; the last one counts, for every side.
ROUNDS: Final = 2
E2E_RATE: Final = 20_000
E2E_RECORDS: Final = 80_000
E2E_WARM_RECORDS: Final = 20_000
CONNECTIONS: Final = 64
ONE_RECORD_REQUESTS: Final = 19_200
LOAD_PROCESSES: Final = 2
TOPIC_CONFIG: Final = {"max.message.bytes": "4194304"}
FLUSHED: Final = {"flush.messages": "1"}

_SIZES: Final = {"1k": 1_000, "100b": 100, "1m": 1_000_000}
_PARTITIONS: Final = {"": 1, "-8p": 8}
_WORKS: Final = ("produce-1k", "produce-100b", "produce-1m", "consume-1k", "consume-100b")
THROUGHPUT: Final = tuple(f"{work}{suffix}" for suffix in _PARTITIONS for work in _WORKS)
PERCENTILES: Final = {"e2e-p50": 50.0, "e2e-p99": 99.0, "e2e-p999": 99.9}
REQUESTS_ITEM: Final = "one-record-requests"
REQUEST_CPU_ITEM: Final = "cpu-per-request"
PROCESS_ITEMS: Final = ("ready", "resident", "cpu-per-gb")
OPEN_ITEM: Final = "open-10gb"
ITEMS: Final = (*THROUGHPUT, *PERCENTILES, REQUESTS_ITEM, REQUEST_CPU_ITEM, *PROCESS_ITEMS, OPEN_ITEM)
PEERS: Final = ("kafka", "unsynced", "klite", "nats")
# The same broker with another durability: measured only where that makes a difference.
VARIANTS: Final = ("kafka-flush", "unsynced")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Raises InvalidInput for an item or a peer that does not exist."""

    megabytes: int = 256
    items: tuple[str, ...] = ITEMS
    against: tuple[str, ...] = ("kafka",)

    def __post_init__(self) -> None:
        for kind, names, valid in (("item", self.items, ITEMS), ("peer", self.against, PEERS)):
            for name in names:
                if name not in valid:
                    raise InvalidInput(f"no {kind} {name!r}", valid=valid, hint=did_you_mean(name, valid))


@dataclass(slots=True)
class _Side:
    """One name in the report: a broker and how its topics are made."""

    name: str
    broker: Broker
    topics: Topics
    config: dict[str, str]
    figures: dict[str, float] = field(default_factory=dict)


def run_log(settings: LogSettings, say: Say) -> Report:
    """Everything it starts has ended afterwards, and its files are gone. Raises HeadraceError."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="headrace-bench-", ignore_cleanup_errors=True)
        directory = Path(stack.enter_context(temporary))
        sides = list(_sides(settings, directory, stack, say))
        for side in sides:
            _Suite(side, settings, say).run()
        if OPEN_ITEM in settings.items:
            sides[0].figures[OPEN_ITEM] = measure_open(directory / "open", say)
    return Report("log", tuple(_result(item, sides) for item in settings.items if item in sides[0].figures))


def _sides(settings: LogSettings, directory: Path, stack: ExitStack, say: Say) -> Iterator[_Side]:
    yield _side("ours", Ours(directory / "ours"), TOPIC_CONFIG, stack)
    for peer in settings.against:
        if peer == "unsynced":
            yield _side(peer, Ours(directory / peer, durability="os"), TOPIC_CONFIG, stack)
            continue
        try:
            if peer != "kafka":
                raise unavailable(peer)
            kafka = Kafka(directory / "kafka")
        except HeadraceError as error:
            say(f"{peer} is left out: {error.message}")
            continue
        yield _side("kafka", kafka, TOPIC_CONFIG, stack)
        yield _side("kafka-flush", kafka, {**TOPIC_CONFIG, **FLUSHED}, ExitStack())


def _side(name: str, broker: Broker, config: dict[str, str], stack: ExitStack) -> _Side:
    stack.callback(broker.close)
    return _Side(name, broker, Topics(broker), config)


def _unit(item: str) -> str:
    if item in THROUGHPUT:
        return "MB/s"
    units = {
        REQUESTS_ITEM: "requests/s",
        REQUEST_CPU_ITEM: "µs",
        "resident": "MB",
        "cpu-per-gb": "CPU-s",
        "ready": "s",
        OPEN_ITEM: "s",
    }
    return units.get(item, "ms")


def _result(item: str, sides: list[_Side]) -> Result:
    ours, *peers = sides
    note = ""
    if item in THROUGHPUT:
        note = f"{ours.figures[item] * 1e6 / _record_bytes(item):,.0f} msg/s"
    theirs = {side.name: side.figures[item] for side in peers if item in side.figures}
    return Result(item, _unit(item), ours.figures[item], theirs, note)


def _record_bytes(item: str) -> int:
    return _SIZES[item.split("-")[1]]


@dataclass(frozen=True, slots=True)
class _Suite:
    """All items of one side. A durable variant of a peer does only what durability changes."""

    side: _Side
    settings: LogSettings
    say: Say

    def run(self) -> None:
        for suffix, partitions in _PARTITIONS.items():
            for size in _SIZES:
                self._throughput(size, suffix, partitions)
        if any(item in self.settings.items for item in PERCENTILES):
            self._latency()
        if any(item in self.settings.items for item in (REQUESTS_ITEM, REQUEST_CPU_ITEM)):
            self._requests()
        if self.side.name not in VARIANTS:
            self._note("ready", self.side.broker.ready_s)
            resident = sum(processes.resident_mb(pid) for pid in processes.tree(self.side.broker.pid))
            self._note("resident", resident)

    def _note(self, item: str, figure: float) -> None:
        if item in self.settings.items:
            self.side.figures[item] = figure
            self.say(f"{self.side.name}: {item} {figure:,.4g} {_unit(item)}")

    @contextmanager
    def _topic(self, partitions: int) -> Iterator[str]:
        """A topic for the time of one item."""
        name = f"{self.side.name}-bench"
        self.side.topics.create(name, partitions, self.side.config)
        try:
            yield name
        finally:
            self.side.topics.delete(name)

    def _throughput(self, size: str, suffix: str, partitions: int) -> None:
        produce, consume = f"produce-{size}{suffix}", f"consume-{size}{suffix}"
        wanted = [item for item in (produce, consume) if item in self.settings.items]
        measures_cpu = (size, suffix) == ("1k", "") and "cpu-per-gb" in self.settings.items
        if not wanted and not measures_cpu:
            return
        for _ in range(ROUNDS):
            with self._topic(partitions) as topic:
                produced = self._produce(topic, size, partitions)
                self._note(produce, self._rate(produced, size))
                if consume not in ITEMS or self.side.name in VARIANTS:
                    continue
                consumed = self._consume(topic, size, partitions)
                self._note(consume, self._rate(consumed, size))
                if measures_cpu:
                    gigabytes = 2 * self._records(size) * _SIZES[size] / 1e9
                    self._note("cpu-per-gb", (produced.broker_cpu_s + consumed.broker_cpu_s) / gigabytes)

    def _records(self, size: str) -> int:
        return self.settings.megabytes * 1_000_000 // _SIZES[size]

    def _rate(self, measured: Measured, size: str) -> float:
        if measured.load_is_limit:
            self.say(f"{self.side.name}: the load generator is the limit of the next figure")
        return self._records(size) * _SIZES[size] / measured.seconds / 1e6

    def _produce(self, topic: str, size: str, partitions: int) -> Measured:
        spec = {
            "role": "produce",
            "topic": topic,
            "partitions": partitions,
            "record_bytes": _SIZES[size],
            "records": self._records(size),
            "chunk_records": max(1, min(10_000, 1_000_000 // _SIZES[size])),
        }
        return run_load(self.side.broker, [spec])

    def _consume(self, topic: str, size: str, partitions: int) -> Measured:
        spec = {"role": "consume", "topic": topic, "partitions": partitions, "records": self._records(size)}
        return run_load(self.side.broker, [spec])

    def _latency(self) -> None:
        with self._topic(1) as topic:
            common = {"topic": topic, "record_bytes": 1_000, "records": E2E_RECORDS, "rate": E2E_RATE}
            specs: list[dict[str, Any]] = [{"role": role, **common} for role in ("receive", "send-paced")]
            latencies_ms = run_load(self.side.broker, specs).answers[0]["latencies_ms"]
        for item, percentile in PERCENTILES.items():
            self._note(item, float(np.percentile(latencies_ms[E2E_WARM_RECORDS:], percentile)))

    def _requests(self) -> None:
        share = {"records": ONE_RECORD_REQUESTS // LOAD_PROCESSES, "connections": CONNECTIONS // LOAD_PROCESSES}
        for _ in range(ROUNDS):
            with self._topic(1) as topic:
                spec = {"role": "requests", "topic": topic, "record_bytes": 100, **share}
                measured = run_load(self.side.broker, [spec] * LOAD_PROCESSES)
            self._note(REQUESTS_ITEM, ONE_RECORD_REQUESTS / measured.seconds)
            self._note(REQUEST_CPU_ITEM, measured.broker_cpu_s / ONE_RECORD_REQUESTS * 1e6)
