"""From a data directory to what runs on it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.credential import use_credential
from headrace.errors import CorruptData, InvalidInput, NotFound
from headrace.process.run_file import RunInfo

if TYPE_CHECKING:
    from headrace.server.client import ServerClient


def bootstrap_of(data_dir: Path, given: str | None) -> str:
    """The given address, else that of the running broker. Raises NotFound when nothing runs."""
    if given is None:
        return own_broker(RunInfo.read(data_dir))
    address = kafka_address(given)
    with suppress(NotFound, CorruptData):
        info = RunInfo.read(data_dir)
        if info.bootstrap == address:
            return own_broker(info)
    return address


def own_broker(info: RunInfo) -> str:
    """The address of a broker that runs; from now on clients of this process are its own parts."""
    if info.credential:
        use_credential(info.bootstrap, info.credential)
    return info.bootstrap


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
