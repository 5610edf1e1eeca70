"""Transactions and producer ids as records of `__transaction_state`: JSON, so that they can be looked at."""

from __future__ import annotations

import json
from typing import Any, Final

from headrace.wire.coordinators.offsets import CommittedOffset, OffsetKey
from headrace.wire.coordinators.transactions import Transaction, TransactionState

PRODUCER_IDS_KEY: Final = b"producer-ids"
_TRANSACTION_PREFIX: Final = b"transaction:"


def key_of(transactional_id: str) -> bytes:
    return _TRANSACTION_PREFIX + transactional_id.encode()


def transactional_id_of(key: bytes) -> str | None:
    """None for keys of other kinds."""
    return key.removeprefix(_TRANSACTION_PREFIX).decode() if key.startswith(_TRANSACTION_PREFIX) else None


def pack(transaction: Transaction) -> bytes:
    fields = {
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.producer_epoch,
        "timeout_ms": transaction.timeout_ms,
        "updated_at_ms": transaction.updated_at_ms,
        "state": transaction.state.value,
        "started_at_ms": transaction.started_at_ms,
        "partitions": sorted(transaction.partitions),
        "groups": sorted(transaction.groups),
        "bumped": transaction.bumped,
        "offsets": [
            [*key, value.offset, value.leader_epoch, value.metadata, value.committed_at_ms]
            for key, value in transaction.offsets.items()
        ],
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def unpack(transactional_id: str, raw: bytes) -> Transaction:
    fields: dict[str, Any] = json.loads(raw)
    return Transaction(
        transactional_id=transactional_id,
        producer_id=fields["producer_id"],
        producer_epoch=fields["producer_epoch"],
        timeout_ms=fields["timeout_ms"],
        updated_at_ms=fields["updated_at_ms"],
        state=TransactionState(fields["state"]),
        started_at_ms=fields["started_at_ms"],
        partitions=frozenset((topic, index) for topic, index in fields["partitions"]),
        groups=frozenset(fields["groups"]),
        bumped=fields.get("bumped", False),
        offsets={OffsetKey(*entry[:3]): CommittedOffset(*entry[3:]) for entry in fields["offsets"]},
    )


def pack_next_producer_id(next_producer_id: int) -> bytes:
    return json.dumps({"next_producer_id": next_producer_id}).encode()


def unpack_next_producer_id(raw: bytes) -> int:
    return int(json.loads(raw)["next_producer_id"])
