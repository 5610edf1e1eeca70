"""Settings of a server process, and every limit it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TOKEN_VARIABLE = "HEADRACE_TOKEN"  # noqa: S105 - the name of the variable, not a token


@dataclass(frozen=True, slots=True)
class ServerLimits:
    body_bytes_max: int = 4 * 1024 * 1024
    event_streams_max: int = 20
    # Requests at once; the reserve is for connections that ask for nothing else than /health and /ready.
    connections_max: int = 200
    connections_reserve: int = 50
    # From the connection, or the last answer, to the end of a request's headers; then to the end of its body.
    request_wait_s: float = 20.0
    body_wait_s: float = 30.0
    requests_per_second: float = 200
    costly_requests_per_second: float = 20
    keep_alive_s: float = 15.0
    preview_rows_max: int = 1_000
    batch_runs_max: int = 4
    looks_max: int = 4
    shutdown_wait_s: float = 2.0


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`log_directory` is set when the broker's log is on this machine."""

    data_directory: Path
    bootstrap: str
    token: str = field(repr=False)
    port: int = 0
    log_directory: Path | None = None
    spark: str | None = None
    limits: ServerLimits = field(default_factory=ServerLimits)
