"""Signals and commits, with a real broker and a checkpoint written by hand: what a crash repeats and what not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headrace.errors import CorruptData
from headrace.log import encode_batches
from headrace.operators import Catalogue
from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.chains.batch_signals import SignalsRecord
from headrace.spark.jobs.events import EventKind
from headrace.spark.jobs.query_signals import QuerySignals
from headrace.spark.jobs.sink import Committer
from headrace.spark.sources.signal_log import SignalLog
from headrace.spark.specs import QueryTopics, SinkSpec, TopicLocation
from headrace.spark.writing.commit import OPENED, CommitLog, CommitRecord
from headrace.wire.client import Client
from headrace.wire.client.signals import send_signal
from headrace.wire.testing import BrokerProcess


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path_factory.mktemp("broker") / "data")
    process.start()
    yield process
    process.stop()


_numbers = itertools.count()


@dataclass
class Query:
    """A query whose micro-batches are planned by hand. `restart` is what a crash leaves: the log and the files."""

    broker: BrokerProcess
    directory: Path
    topic: str
    colocated: bool
    told: list[tuple[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        with Client(self.broker.bootstrap) as client:
            client.create_topics({self.topic: 2})
        log = self._log()
        log.create()
        log.commit(CommitRecord(OPENED, 0, "identity", {"rows": {"0": 0, "1": 0}}), {})
        log.close()
        self._open()

    def restart(self) -> None:
        self.close()
        self._open()

    def _open(self) -> None:
        place = TopicLocation(self.topic, self.broker.bootstrap, str(self.broker.data_dir) if self.colocated else None)
        read = QueryTopics({"rows": self.topic}, {"rows": {"0": 0, "1": 0}})
        log = SignalLog(place, "pipeline", read)
        self.signals = QuerySignals(log, Catalogue(), frozenset({"elsewhere"}), self._publish)
        spec = SinkSpec(self.topic, self.broker.bootstrap, str(self.directory), str(self.directory), ())
        self.committer = Committer(spec, self._log(), signals=self.signals)

    def send(self, name: str, kind: str, **more: object) -> SignalRecord:
        """Under an id of this test's own; events are told of the bare name."""
        request = SignalRequest(f"{self.topic}:{name}", kind, (self.topic,), **more)  # type: ignore[arg-type]
        with Client(self.broker.bootstrap) as client:
            return send_signal(client, request)

    def commit(self, batch: int, end: Mapping[int, int]) -> None:
        """As Spark does: the plan is written down, the rows are run, the batch is committed."""
        path = self.directory / "offsets" / str(batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        offsets = {str(partition): offset for partition, offset in end.items()}
        path.write_text("\n".join(["v1", json.dumps({"batchTimestampMs": 0}), json.dumps({**offsets, "tick": batch})]))
        self.committer.commit(batch, ())

    def record(self) -> SignalsRecord:
        """As it stands in the log."""
        log = self._log()
        last = log.peek()
        log.close()
        assert last is not None
        return SignalsRecord.from_json(last.signals)

    def close(self) -> None:
        self.committer.close()

    def _log(self) -> CommitLog:
        return CommitLog(Client(self.broker.bootstrap), self.topic)

    def _publish(self, kind: EventKind, details: Mapping[str, object], node: str | None) -> None:
        self.told.append((_bare(details["id"]), details["fate"]))


def _bare(name: object) -> str:
    return str(name).rpartition(":")[2]


@pytest.fixture(params=[True, False], ids=["colocated", "remote"])
def query(broker: BrokerProcess, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Query]:
    made = Query(broker, tmp_path, f"topic-{next(_numbers)}", request.param)
    yield made
    made.close()


def test_a_batch_that_is_run_again_after_its_commit_tells_nothing_twice(query: Query) -> None:
    end = query.send("first", "custom", node="absent").cut[query.topic]
    query.commit(0, end)
    assert query.told == [("first", "dropped")]
    query.restart()
    query.commit(0, end)
    query.commit(1, end)
    assert query.told == [("first", "dropped")]
    assert query.signals.counts == {}


def test_what_is_offered_again_and_what_holds_outlives_the_process(query: Query) -> None:
    kept = query.send("kept", "custom", handling="until_handled").cut[query.topic]
    query.commit(0, kept)
    query.restart()
    paused = query.send("paused", "pause").cut[query.topic]
    query.commit(1, paused)
    assert [_bare(request.id) for request in query.record().standing] == ["kept"]
    assert _bare(query.record().paused_by) == "paused"
    ended = query.send("ended", "withdraw", parameters={"id": query.record().standing[0].id}).cut[query.topic]
    query.commit(2, ended)
    assert query.record().standing == ()
    assert query.record().paused_by is None
    assert query.told == [("kept", "kept"), ("paused", "handled"), ("ended", "handled")]


def test_signals_to_nodes_of_other_queries_are_no_business_of_this_one(query: Query) -> None:
    end = query.send("theirs", "custom", node="elsewhere").cut[query.topic]
    query.commit(0, end)
    assert query.told == []


def test_the_source_ends_at_the_cut_as_soon_as_the_signal_is_sent(query: Query) -> None:
    cut = query.send("now", "custom").cut[query.topic]
    end = {"0": 100, "1": 100}
    cuts = query.signals.log.cuts()
    for begin, expected in (({"0": 0, "1": 0}, {str(p): offset for p, offset in cut.items()}), ({"0": 1, "1": 1}, end)):
        assert cuts.limited("rows", {"rows": begin}, begin, end) == expected


def test_a_record_that_no_sink_wrote_is_named_and_a_reset_gets_past_it(broker: BrokerProcess) -> None:
    name = f"junk-{next(_numbers)}"
    with Client(broker.bootstrap) as client:
        log = CommitLog(client, name)
        log.create()
        client.produce({log.topic: {0: b"".join(encode_batches([None] * 2, [b"{}", b"no json"], [1, 1]))}})
        with pytest.raises(CorruptData, match=f"{log.topic}, at offset 1, is no commit record"):
            log.last()
        opened = CommitRecord(OPENED, 0, "identity", {})
        log.commit(opened, {})
        assert CommitLog(client, name).last() == opened
