"""Sending signals to a broker of ours, and reading those that it knows."""

from __future__ import annotations

import time
from typing import Final

from headrace.errors import ExternalFailure, InvalidInput
from headrace.log import decode_fetched, encode_batches, parse_batches
from headrace.signals import SIGNALS_TOPIC, SignalRecord, SignalRequest
from headrace.wire.client.client import EARLIEST, LATEST, Client
from headrace.wire.client.errors import ConnectionLost, KafkaError
from headrace.wire.codes import ErrorCode

# A signal whose answer was lost is asked for again, under the same id.
SEND_TRIES_MAX: Final = 5
SEND_RETRY_S: Final = 0.5


def send_signal(client: Client, request: SignalRequest) -> SignalRecord:
    """The signal with its cut, on disk. Sent again under the same id it stays where it is.

    Raises InvalidInput for a topic that is not there or an id in use, ExternalFailure.
    """
    batch = b"".join(encode_batches([request.id.encode()], [request.to_bytes()], [time.time_ns() // 1_000_000]))
    _produce(client, batch)
    placed = {record.request.id: record for record in known_signals(client)}.get(request.id)
    if placed is None:
        raise ExternalFailure(f"the signal {request.id!r} was placed, and is not in {SIGNALS_TOPIC}")
    return placed


def known_signals(client: Client) -> list[SignalRecord]:
    """All that the broker still knows, in the order in which they were placed."""
    newest: dict[bytes, bytes] = {}
    end = client.list_offsets(SIGNALS_TOPIC, {0: LATEST}, committed=True)[0].offset
    offset = client.list_offsets(SIGNALS_TOPIC, {0: EARLIEST})[0].offset
    while offset < end:
        fetched = client.fetch(SIGNALS_TOPIC, 0, offset)
        headers = list(parse_batches(fetched.records))
        if not headers:
            break
        for records in decode_fetched(fetched.records, fetched.aborted):
            for key, value in zip(records.keys.to_pylist(), records.values.to_pylist(), strict=True):
                newest.pop(key or b"", None)
                if value is not None:
                    newest[key or b""] = value
        offset = headers[-1].next_offset
    return sorted((SignalRecord.from_bytes(value) for value in newest.values()), key=lambda record: record.number)


def _produce(client: Client, batch: bytes) -> None:
    for tries in range(1, SEND_TRIES_MAX + 1):
        try:
            client.produce({SIGNALS_TOPIC: {0: batch}})
        except KafkaError as error:
            if error.error_code == ErrorCode.INVALID_RECORD:
                raise InvalidInput(error.message) from error
            raise
        except ConnectionLost:
            if tries == SEND_TRIES_MAX:
                raise
            time.sleep(SEND_RETRY_S)
        else:
            return
