"""Settings of a broker, each with its default, and every limit it keeps."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal

from headrace.errors import InvalidConfig, did_you_mean

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """Checked when made: raises InvalidConfig naming the setting and what it may be."""

    data_dir: Path
    host: str = "127.0.0.1"
    # 0 picks a free one.
    port: int = 9092
    node_id: int = 1
    # fsync: an acknowledged record survives power loss. os: it survives a crash of the broker, not of the machine.
    durability: Literal["fsync", "os"] = "fsync"

    auto_create_topics: bool = True
    default_partition_count: int = 1
    topics_max: int = 1_000
    partitions_max: int = 4_000
    retention_interval_ms: int = 60_000

    connections_max: int = 1_024
    request_bytes_max: int = 100 * _MIB
    # All requests but Produce, whose records are passed on undecoded.
    control_request_bytes_max: int = 8 * _MIB
    in_flight_requests_max: int = 64
    # Per connection; reading stops above it. One request may be larger.
    in_flight_bytes_max: int = 64 * _MIB
    fetch_bytes_max: int = 55 * _MIB
    fetch_wait_ms_max: int = 60_000
    # Responses that a client does not read; further requests of that connection wait above it.
    unsent_bytes_max: int = 8 * _MIB

    groups_max: int = 1_000
    group_members_max: int = 500
    session_timeout_ms_min: int = 500
    session_timeout_ms_max: int = 1_800_000
    # How long a new group waits for more members before its first assignment.
    rebalance_delay_ms: int = 100
    offset_metadata_bytes_max: int = 4_096
    # Offsets of a group without members are forgotten this long after its last commit.
    offset_expiry_ms: int = 7 * 24 * 3_600_000

    transactional_ids_max: int = 10_000
    transaction_timeout_ms_max: int = 900_000
    transactional_id_expiry_ms: int = 7 * 24 * 3_600_000

    # The broker's own topics are rewritten, and their past deleted, each time they grew by this much.
    state_log_bytes_max: int = 32 * _MIB

    def __post_init__(self) -> None:
        _check_host(self.host)
        if not 0 <= self.port <= 65_535:
            raise InvalidConfig(f"port is {self.port}", valid=["0 (pick a free one) to 65535"])
        if self.durability not in ("fsync", "os"):
            raise InvalidConfig(f"durability is {self.durability!r}", valid=["fsync", "os"])
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("port", "rebalance_delay_ms", "node_id") else 1
            if field.type == "int" and value < least:
                raise InvalidConfig(f"{field.name} is {value}", valid=[f"{least} or more"])


def _check_host(host: str) -> None:
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise InvalidConfig(
            f"host is {host!r}, which others could reach; the broker listens on loopback only",
            valid=["127.0.0.1"],
        )


def load_config(path: Path, **given: Any) -> BrokerConfig:
    """Settings of a TOML file; `given` ones (from the command line) win. Raises InvalidConfig."""
    try:
        settings = tomllib.loads(path.read_text())
    except OSError as error:
        raise InvalidConfig(f"config file {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"config file {path} is no TOML: {error}") from None
    return _checked(str(path), {**settings, **given})


def _checked(origin: str, settings: dict[str, Any]) -> BrokerConfig:
    valid = [field.name for field in dataclasses.fields(BrokerConfig)]
    for name in settings:
        if name not in valid:
            raise InvalidConfig(f"{origin}: unknown setting {name!r}", valid=valid, hint=did_you_mean(name, valid))
    if "data_dir" not in settings:
        raise InvalidConfig(f"{origin}: data_dir is not set", hint="--data-dir DIRECTORY, or data_dir in the file")
    return _typed(origin, settings)


def _typed(origin: str, settings: dict[str, Any]) -> BrokerConfig:
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - most brokers start without it: 5 MB spared

    try:
        return TypeAdapter(BrokerConfig).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidConfig(f"{origin}: {name}: {first['msg']}, not {first['input']!r}") from None
