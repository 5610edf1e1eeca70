"""The broker as a process: arguments, signals, one line when it is ready, one sentence when it cannot be."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import uvloop

from headrace.errors import HeadraceError, InvalidConfig
from headrace.log.files import raise_descriptor_limit
from headrace.process.private import PRIVATE_UMASK
from headrace.wire.broker import Broker
from headrace.wire.config import BrokerConfig, load_config
from headrace.wire.event_log import log_to_stderr

# Told by the operating system or by a person that it cannot start; nothing was changed.
EXIT_REFUSED: Final = 2
# Objects more than at the last collection: requests of a few hundred connections under way are not looked at in vain.
COLLECT_AFTER: Final = (20_000, 10, 10)

Ready = Callable[[dict[str, object]], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry of `python -m headrace.wire`. Exits with 2 and a sentence on stderr when it cannot start."""
    log_to_stderr()
    os.umask(PRIVATE_UMASK)
    try:
        config, ready_descriptor = _parse(arguments)
        run_broker(config, lambda line: _announce(line, ready_descriptor))
    except HeadraceError as error:
        print(error, file=sys.stderr)
        raise SystemExit(EXIT_REFUSED) from None


def run_broker(config: BrokerConfig, ready: Ready = lambda line: None) -> None:
    """Serve until SIGTERM or SIGINT, then stop cleanly. `ready` is called once, with where the broker listens."""
    raise_descriptor_limit()
    uvloop.run(_serve(config, ready))


async def _serve(config: BrokerConfig, ready: Ready) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    broker = Broker(config)
    await broker.start()
    _keep_collections_short()
    try:
        local = {} if broker.local_port is None else {"local_port": broker.local_port}
        address = f"{config.advertised_host or config.host}:{broker.port}"
        where = {"host": config.host, "port": broker.port, "address": address}
        ready({"ready": True, **where, "authenticated": config.closed, "pid": os.getpid(), **local})
        await stopping.wait()
    finally:
        await broker.stop()


def _keep_collections_short() -> None:
    """What was loaded stays: a full collection that looks at all of it stops every client for 20 ms and more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _announce(line: dict[str, object], descriptor: int) -> None:
    os.write(descriptor, json.dumps(line).encode() + b"\n")


def _parse(arguments: Sequence[str] | None) -> tuple[BrokerConfig, int]:
    parser = argparse.ArgumentParser(prog="python -m headrace.wire", description="A broker that speaks Kafka.")
    parser.add_argument("--data-dir", type=Path, help="where the log is kept; created if need be")
    parser.add_argument("--host", help="a loopback address, or any other with authentication (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="0 picks a free one (default 9092)")
    parser.add_argument("--local-port", type=int, help="a second port, on loopback and without TLS")
    parser.add_argument(
        "--no-anonymous",
        dest="anonymous",
        action="store_const",
        const=False,
        help="take only clients that authenticate",
    )
    parser.add_argument("--durability", help="fsync (default): acknowledged means on disk; os: in the system's cache")
    parser.add_argument("--config", type=Path, help="a TOML file with any setting of the broker")
    parser.add_argument("--ready-fd", type=int, default=1, help="where the line goes that says it is ready (stdout)")
    given = vars(parser.parse_args(arguments))
    config_path, ready_descriptor = given.pop("config"), given.pop("ready_fd")
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if config_path is not None:
        return load_config(config_path, **settings), ready_descriptor
    if "data_dir" not in settings:
        raise InvalidConfig("no data directory is given", hint="--data-dir DIRECTORY, or data_dir in a --config file")
    return BrokerConfig(**settings), ready_descriptor
