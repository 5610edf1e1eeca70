"""Settings of a broker, each with its default, and every limit it keeps."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal

from headrace.errors import InvalidConfig, did_you_mean
from headrace.wire.security.credentials import MECHANISMS, PLAIN

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """Checked when made: raises InvalidConfig naming the setting and what it may be."""

    data_dir: Path
    host: str = "127.0.0.1"
    # 0 picks a free one.
    port: int = 9092
    # What clients are told to connect to, where it is not `host`.
    advertised_host: str | None = None
    # A second way in, on loopback and without TLS, for processes of this machine. 0 picks a free port.
    local_port: int | None = None
    node_id: int = 1
    # fsync: an acknowledged record survives power loss. os: it survives a crash of the broker, not of the machine.
    durability: Literal["fsync", "os"] = "fsync"

    # PEM files. With a client CA, clients must show a certificate signed by it.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    # SCRAM-SHA-256, SCRAM-SHA-512, PLAIN. With any of them, clients must authenticate.
    sasl_mechanisms: tuple[str, ...] = ()
    # A connection that has not authenticated by then is closed.
    authentication_ms_max: int = 30_000
    # Whether a listener without sasl_mechanisms takes clients that do not authenticate. Otherwise it is for our own
    # parts alone, which use the credential of the data directory.
    anonymous: bool = True
    # acls: authenticated clients may do what access control lists allow them. none: they may do everything.
    authorization: Literal["acls", "none"] = "acls"
    # Users whom access control lists do not bind. Those of certificates are given by their subject, "CN=…".
    super_users: tuple[str, ...] = ()

    auto_create_topics: bool = True
    default_partition_count: int = 1
    # A partition takes about 20 KB of memory, and descriptors only while it is used.
    topics_max: int = 10_000
    partitions_max: int = 20_000
    retention_interval_ms: int = 60_000
    # How often it is looked whether a compacted partition is dirty enough.
    compaction_interval_ms: int = 15_000

    # In all, and from one address; loopback counts as one. Above it the connection that was silent longest is closed.
    connections_max: int = 2_048
    connections_per_address_max: int = 1_024
    # A connection without a request for so long is closed. Clients connect again by themselves.
    connections_idle_ms_max: int = 600_000
    # The first request must be there by then; of a request that has begun some byte must come within the other.
    first_request_ms_max: int = 30_000
    partial_request_ms_max: int = 30_000
    request_bytes_max: int = 100 * _MIB
    # All requests but Produce, whose records are passed on undecoded.
    control_request_bytes_max: int = 8 * _MIB
    in_flight_requests_max: int = 64
    # Per connection; reading stops above it. One request may be larger.
    in_flight_bytes_max: int = 64 * _MIB
    # Of all connections together; above it none is read from.
    in_flight_bytes_total_max: int = 512 * _MIB
    fetch_bytes_max: int = 8 * _MIB
    fetch_wait_ms_max: int = 60_000
    # Responses that a client does not read; further requests of that connection wait above it.
    unsent_bytes_max: int = 8 * _MIB

    # Groups with members or committed offsets. One that only has an offset takes 0.7 KB of memory.
    groups_max: int = 100_000
    group_members_max: int = 500
    session_timeout_ms_min: int = 500
    session_timeout_ms_max: int = 1_800_000
    # How long a new group waits for more members before its first assignment.
    rebalance_delay_ms: int = 100
    # Of groups whose assignment the broker makes; a group may have its own. A change reaches every member within a few
    # heartbeats.
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    offset_metadata_bytes_max: int = 4_096
    # Offsets of a group without members are forgotten this long after its last commit.
    offset_expiry_ms: int = 7 * 24 * 3_600_000

    transactional_ids_max: int = 10_000
    transaction_timeout_ms_max: int = 900_000
    transactional_id_expiry_ms: int = 7 * 24 * 3_600_000

    # A folder, or s3://bucket/prefix and the like: where topics with remote.storage.enable are archived.
    archive: str | None = None

    # The broker's own topics are rewritten, and their past deleted, each time they grew by this much.
    state_log_bytes_max: int = 32 * _MIB

    @property
    def authenticated(self) -> bool:
        """Whether clients of the main listener prove who they are."""
        return bool(self.sasl_mechanisms) or self.tls_client_ca is not None

    @property
    def closed(self) -> bool:
        """Whether nobody gets in who does not prove who they are."""
        return self.authenticated or not self.anonymous

    def __post_init__(self) -> None:
        _check_security(self)
        for name, port in (("port", self.port), ("local_port", self.local_port or 0)):
            if not 0 <= port <= 65_535:
                raise InvalidConfig(f"{name} is {port}", valid=["0 (pick a free one) to 65535"])
        for name, valid in (("durability", ("fsync", "os")), ("authorization", ("acls", "none"))):
            if getattr(self, name) not in valid:
                raise InvalidConfig(f"{name} is {getattr(self, name)!r}", valid=valid)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("port", "rebalance_delay_ms", "node_id") else 1
            if field.type == "int" and value < least:
                raise InvalidConfig(f"{field.name} is {value}", valid=[f"{least} or more"])


def _check_security(config: BrokerConfig) -> None:
    for mechanism in config.sasl_mechanisms:
        if mechanism not in MECHANISMS:
            raise InvalidConfig(f"sasl_mechanisms has {mechanism!r}", valid=MECHANISMS)
    if (config.tls_certificate is None) != (config.tls_key is None):
        raise InvalidConfig("tls_certificate and tls_key go together: one of them is not set")
    if config.tls_client_ca is not None and config.tls_certificate is None:
        raise InvalidConfig("tls_client_ca is set, and tls_certificate is not")
    if _is_loopback(config.host):
        return
    if not config.authenticated:
        raise InvalidConfig(
            f"host is {config.host!r}, which others could reach, and no authentication is set up; "
            "without it the broker listens on loopback only",
            valid=["127.0.0.1", "any address together with sasl_mechanisms or tls_client_ca"],
        )
    if PLAIN in config.sasl_mechanisms and config.tls_certificate is None:
        raise InvalidConfig(
            f"host is {config.host!r}, and PLAIN would send passwords there unencrypted",
            hint="set tls_certificate and tls_key, or leave PLAIN out of sasl_mechanisms",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


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
