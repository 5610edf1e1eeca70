"""The log's way to say no, in numbers that every Kafka client understands."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from headrace.errors import HeadraceError


class ErrorCode(IntEnum):
    """The Kafka error codes that the log itself gives."""

    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    MESSAGE_TOO_LARGE = 10
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    KAFKA_STORAGE_ERROR = 56
    UNKNOWN_PRODUCER_ID = 59
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87


class RecordError(NamedTuple):
    """Why one record made the log refuse its batch. The first record of a batch has the index 0."""

    batch_index: int
    message: str


class LogRefusal(HeadraceError):
    """A request that the log did not carry out; nothing was changed. `error_code` goes to the client as it is."""

    code = "log_refusal"
    domain = "user"

    def __init__(
        self,
        error_code: int,
        message: str,
        *,
        hint: str | None = None,
        record_errors: Sequence[RecordError] = (),
    ) -> None:
        self.error_code = ErrorCode(error_code)
        self.record_errors = tuple(record_errors)
        super().__init__(message, hint=hint)

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "error_code": int(self.error_code)}
