"""Peers that aggregate tables: each in an environment of its own, but PySpark, which is there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from headrace.bench import table_peer
from headrace.bench.environments import python_with
from headrace.bench.peers import Peer, spark_peer

VERSIONS: Final = {"duckdb": "2.0.0", "polars": "2.1.0"}
PEERS: Final = (*VERSIONS, "pyspark")


def start_peer(name: str, directory: Path) -> Peer:
    """Raises ExternalFailure where it cannot be installed."""
    if name not in VERSIONS:
        return spark_peer(name, directory)
    return Peer(name, [str(python_with(name, VERSIONS[name])), str(Path(table_peer.__file__)), name], directory)
