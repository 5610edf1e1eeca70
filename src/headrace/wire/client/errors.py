"""What a Kafka broker answers instead of a result, and a broker that does not answer."""

from __future__ import annotations

from typing import Final

from headrace.errors import ExternalFailure
from headrace.wire.codes import ErrorCode

# Answers after which the same request may succeed, once metadata and coordinators were looked up anew.
RETRIABLE_CODES: Final = frozenset({3, 5, 6, 7, 8, 13, 14, 15, 16, 19, 20, 41, 51, 56})


class KafkaError(ExternalFailure):
    """An error code of the protocol. `error_code` is its number, `name` its name in upper case."""

    def __init__(self, error_code: int, name: str, message: str) -> None:
        self.error_code = int(error_code)
        self.name = name
        super().__init__(f"{message}: {name} ({self.error_code})")

    @property
    def may_pass(self) -> bool:
        return self.error_code in RETRIABLE_CODES


class ConnectionLost(ExternalFailure):
    """No broker could be reached, or the connection broke: whether the request was served is unknown."""


def check(error_code: int, message: str) -> None:
    """Raises KafkaError unless the code says that all went well."""
    if error_code != ErrorCode.NONE:
        raise KafkaError(error_code, _name_of(error_code), message)


def _name_of(error_code: int) -> str:
    from kio.schema.errors import ErrorCode as KnownCode  # noqa: PLC0415 - needed only when something went wrong

    try:
        return KnownCode(int(error_code)).name.upper()
    except ValueError:
        return f"ERROR_{int(error_code)}"
