"""From a data directory to what runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.process.run_file import RunInfo

if TYPE_CHECKING:
    from headrace.server.client import ServerClient


def bootstrap_of(data_dir: Path, given: str | None) -> str:
    """The given address, else that of the running broker. Raises NotFound when nothing runs."""
    return kafka_address(given) if given is not None else RunInfo.read(data_dir).bootstrap


def kafka_address(given: str) -> str:
    """`kafka://host:port` and `host:port` mean the same. Raises InvalidInput."""
    address = given.removeprefix("kafka://").rstrip("/")
    for server in address.split(","):
        host, _, port = server.rpartition(":")
        if not host or not port.isdigit():
            raise InvalidInput(f"{given!r} is no Kafka address", valid=["kafka://host:port", "host:port"])
    return address


def server_of(data_dir: Path) -> ServerClient:
    """Raises NotFound when no server runs on the data directory."""
    from headrace.server.client import ServerClient  # noqa: PLC0415

    return ServerClient(RunInfo.read(data_dir))
