"""Questions about transactions, to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from headrace.wire import protocol
from headrace.wire.asking import DEADLINE_MS, RETRY_S, Asker, asking, names, numbered
from headrace.wire.client.connection import Deadline
from headrace.wire.messages import offsets, partitions, produce, transactions
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow


def begin(ask: Asker, name: str, timeout_ms: int = 60_000) -> Any:
    return ask(protocol.INIT_PRODUCER_ID, transactions.InitProducerIdRequest(name, timeout_ms))


def add(ask: Asker, name: str, producer: Any, topic: str, epoch_more: int = 0) -> list[str]:
    entry = transactions.TransactionTopic(topic, (0,))
    request = transactions.AddPartitionsToTxnRequest(
        name, producer.producer_id, producer.producer_epoch + epoch_more, (entry,)
    )
    return names(ask(protocol.ADD_PARTITIONS_TO_TXN, request, 3))


def end(ask: Asker, name: str, producer: Any, *, commit: bool, version: int = 4, epoch_more: int = 0) -> Any:
    request = transactions.EndTxnRequest(name, producer.producer_id, producer.producer_epoch + epoch_more, commit)
    return ask(protocol.END_TXN, request, version)


def transactions_of_the_older_kind(ask: Asker) -> Any:
    ask.create("older")
    producer = begin(ask, "older-id")
    who = (producer.producer_id, producer.producer_epoch)
    told: list[Any] = [
        names(begin(ask, "odd", 0)),
        names(begin(ask, "odd", 10_000_000)),
        names(begin(ask, "")),
        names(end(ask, "no-such", producer, commit=True)),
        names(end(ask, "older-id", producer, commit=True)),
        add(ask, "older-id", producer, "no-such"),
        add(ask, "older-id", producer, "older", epoch_more=3),
        add(ask, "older-id", producer, "older"),
    ]
    wrote = ask.write("older", numbered(*who, 0, b"a", transactional=True), transactional_id="older-id")
    told.append((wrote.error_code.name, wrote.base_offset))
    open_read = ask.read("older", 0, committed=True)
    told += [open_read.last_stable_offset, open_read.high_watermark, bool(open_read.records)]
    told.append(names(end(ask, "older-id", producer, commit=False)))
    told.append(names(end(ask, "older-id", producer, commit=False)))
    told.append(names(end(ask, "older-id", producer, commit=True)))
    closed = ask.read("older", 0, committed=True)
    told += [closed.last_stable_offset, closed.high_watermark, [a.first_offset for a in closed.aborted or ()]]
    return told


def transactions_of_the_newer_kind(ask: Asker) -> Any:
    ask.create("newer")
    producer = begin(ask, "newer-id")
    entry = produce.ProducePartition("newer", 0, numbered(producer.producer_id, 0, 0, b"a", transactional=True))
    request = produce.ProduceRequest("newer-id", -1, 5000, (entry,))
    told: list[Any] = [names(ask(protocol.PRODUCE, request, 12))]
    for commit, more in ((True, 0), (True, 0), (False, 0), (True, 1), (False, 1)):
        ended = end(ask, "newer-id", producer, commit=commit, version=5, epoch_more=more)
        told.append((ended.error_code.name, ended.producer_epoch))
    late = ask(protocol.PRODUCE, request, 12)
    found = ask.read("newer", 0, committed=True)
    return told, names(late), found.last_stable_offset, [a.first_offset for a in found.aborted or ()]


def offsets_in_transactions(ask: Asker) -> Any:
    ask.create("moved")
    producer = begin(ask, "mover")
    who = (producer.producer_id, producer.producer_epoch)
    commit = transactions.TxnOffsetCommitRequest(
        "mover", "moving", *who, (offsets.CommitTopic("moved", (offsets.CommitPartition(0, 7, "here"),)),)
    )
    added = ask(protocol.ADD_OFFSETS_TO_TXN, transactions.AddOffsetsToTxnRequest("mover", *who, "moving"))
    told = [names(added), names(ask(protocol.TXN_OFFSET_COMMIT, commit, 4))]

    def committed(*, stable: bool) -> Any:
        wanted = offsets.OffsetFetchGroup("moving", (offsets.OffsetFetchTopic("moved", (0,)),))
        request = offsets.OffsetFetchRequest(groups=(wanted,), require_stable=stable)
        (group,) = ask(protocol.OFFSET_FETCH, request, 9).groups
        (partition,) = group.topics[0].partitions
        return partition.error_code.name, partition.committed_offset, partition.metadata

    before = committed(stable=False), committed(stable=True)
    ended = names(end(ask, "mover", producer, commit=True))
    deadline = Deadline(DEADLINE_MS)
    while (after := committed(stable=True))[0] == "UNSTABLE_OFFSET_COMMIT" and deadline.left_s() > 0:
        time.sleep(RETRY_S)  # Kafka completes a transaction after it answered
    return told, before, ended, after


def looking_at_producers_and_transactions(ask: Asker) -> Any:
    ask.create("watched")
    producer = begin(ask, "watched-id")
    add(ask, "watched-id", producer, "watched")
    ask.write(
        "watched",
        numbered(producer.producer_id, producer.producer_epoch, 0, b"a", transactional=True),
        transactional_id="watched-id",
    )
    wanted = partitions.DescribeProducersRequest((partitions.NamedPartitions("watched", (0, 9)),))
    found, unknown = ask(protocol.DESCRIBE_PRODUCERS, wanted).topics[0].partitions
    (active,) = found.active_producers
    listed = ask(protocol.LIST_TRANSACTIONS, transactions.ListTransactionsRequest(("Ongoing", "Odd")))
    described = ask(
        protocol.DESCRIBE_TRANSACTIONS, transactions.DescribeTransactionsRequest(("watched-id", "no-such"))
    ).transaction_states
    end(ask, "watched-id", producer, commit=True)
    return (
        (active.last_sequence, active.current_txn_start_offset, unknown.error_code.name),
        (listed.unknown_state_filters, "watched-id" in {t.transactional_id for t in listed.transaction_states}),
        [(d.error_code.name, d.transaction_state, d.transaction_timeout_ms) for d in described][:1],
        described[1].error_code.name,
    )


@pytest.mark.parametrize(
    "ask",
    [
        transactions_of_the_older_kind,
        transactions_of_the_newer_kind,
        offsets_in_transactions,
        looking_at_producers_and_transactions,
    ],
    ids=lambda ask: ask.__name__,
)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Callable[[Asker], Any]) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)
