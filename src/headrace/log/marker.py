"""Control batches: the markers that end a transaction, and the marks of signals. Clients skip both."""

from __future__ import annotations

from headrace.log.batch import CONTROL_BIT, HEADER_BYTES, TRANSACTIONAL_BIT, pack_batch
from headrace.log.storage import Buffer

# One record as Kafka lays it out: length, attributes, time and offset deltas, key (version, kind), value (version,
# coordinator epoch), no headers. Only the kind differs, so both are constants.
_ABORT = bytes.fromhex("20 00 00 00 08 0000 0000 0c 0000 00000000 00")
_COMMIT = bytes.fromhex("20 00 00 00 08 0000 0001 0c 0000 00000000 00")


# The same layout, with a kind that Kafka does not use and no value.
_SIGNAL = bytes.fromhex("14 00 00 00 08 0000 03e8 01 00")


def pack_signal_mark(time_ms: int) -> bytes:
    """A batch with one record that takes an offset and says nothing: what it stands for is in `__signals`."""
    return pack_batch(
        _SIGNAL, attributes=CONTROL_BIT, record_count=1, base_timestamp_ms=time_ms, max_timestamp_ms=time_ms
    )


def pack_marker(producer_id: int, producer_epoch: int, *, commit: bool, time_ms: int) -> bytes:
    """A batch with the one record that says how the producer's transaction ended."""
    return pack_batch(
        _COMMIT if commit else _ABORT,
        attributes=CONTROL_BIT | TRANSACTIONAL_BIT,
        record_count=1,
        base_timestamp_ms=time_ms,
        max_timestamp_ms=time_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def is_commit(batch: Buffer) -> bool:
    """What a marker written by `pack_marker` says."""
    return bytes(batch[HEADER_BYTES:]) == _COMMIT
