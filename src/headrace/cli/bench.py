"""`headrace bench`: figures of this machine, ours beside those of peers."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.options import Json
from headrace.cli.output import print_json, print_table

if TYPE_CHECKING:
    from headrace.bench import Report

app = typer.Typer(help="Measure Headrace beside peers. A ratio above 1 means that Headrace is better.")


@app.callback()
def _suites() -> None:
    """Each suite is a command, however many there are."""


@app.command("spine")
def spine(
    *,
    rows: Annotated[int, typer.Option("--rows", min=1_000, help="Rows for the items in rows/s.")] = 2_000_000,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    against: Annotated[
        str, typer.Option("--against", help="Peers, as a,b: pyspark, pyspark-kafka, pyspark-tuned.")
    ] = "pyspark,pyspark-kafka",
    as_json: Json = False,
) -> None:
    """Through the log and Spark to a topic: rows per second, micro-batches, memory, start, recovery."""
    from headrace.bench.spine import ITEMS, SpineSettings, run_spine  # noqa: PLC0415

    settings = SpineSettings(rows, _names(items) or ITEMS, _names(against))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_spine(settings, _say), as_json)


@app.command("recovery")
def recovery(
    *,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=50, help="The median of so many counts.")] = 3,
    against: Annotated[
        str, typer.Option("--against", help="The program `headrace` of another version, run in turns with this one.")
    ] = "",
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    as_json: Json = False,
) -> None:
    """From kill −9 of everything, the server, Java or the broker until rows come again."""
    from headrace.bench.recovery import ITEMS, RecoverySettings, run_recovery  # noqa: PLC0415

    settings = RecoverySettings(rounds, _names(items) or ITEMS, against)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_recovery(settings, _say), as_json)


@app.command("log")
def log(
    *,
    megabytes: Annotated[int, typer.Option("--mb", min=1, max=4_096, help="Data for each item in MB/s.")] = 256,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    against: Annotated[str, typer.Option("--against", help="Peers, as a,b: kafka, unsynced, klite, nats.")] = "kafka",
    as_json: Json = False,
) -> None:
    """The broker alone, loaded by librdkafka: throughput, latency, requests, memory, CPU, start."""
    from headrace.bench.log import ITEMS, LogSettings, run_log  # noqa: PLC0415

    settings = LogSettings(megabytes, _names(items) or ITEMS, _names(against))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_log(settings, _say), as_json)


@app.command("ui")
def ui(
    *,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    as_json: Json = False,
) -> None:
    """The editor in Chromium with 500 nodes and live figures: opening, dragging, and the size of what is loaded."""
    from headrace.bench.ui import ITEMS, UiSettings, run_ui  # noqa: PLC0415

    settings = UiSettings(_names(items) or ITEMS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_ui(settings, _say), as_json)


@app.command("chain")
def chain(
    *,
    rows: Annotated[int, typer.Option("--rows", min=1_000, help="Rows for the items in rows/s.")] = 8_000_000,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    against: Annotated[str, typer.Option("--against", help="Peers: tws, or nothing.")] = "tws",
    as_json: Json = False,
) -> None:
    """Serial operators with state: windows and a pattern over 10,000 keys, the cost of a step, copies, state."""
    from headrace.bench.chain import ITEMS, ChainSettings, run_chain  # noqa: PLC0415

    settings = ChainSettings(rows, _names(items) or ITEMS, _names(against))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_chain(settings, _say), as_json)


@app.command("memory")
def memory(
    *,
    frames: Annotated[int, typer.Option("--frames", min=1, max=10_000, help="Of 6 MB, in each of 5 rounds.")] = 100,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    against: Annotated[
        str, typer.Option("--against", help="Peers, as a,b: socket, queue, iceoryx2.")
    ] = "socket,queue,iceoryx2",
    as_json: Json = False,
) -> None:
    """Buffers: the cost of a loan, and frames to another process that reads every byte, in time and CPU."""
    from headrace.bench.memory import ITEMS, MemorySettings, run_memory  # noqa: PLC0415

    settings = MemorySettings(frames, _names(items) or ITEMS, _names(against))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_memory(settings, _say), as_json)


@app.command("brc")
def brc(
    *,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Instead of what an item's name says; 0: as named.")] = 0,
    items: Annotated[str, typer.Option("--items", help="Only these, as a,b,c; default: all.")] = "",
    against: Annotated[
        str, typer.Option("--against", help="Peers, as a,b: duckdb, polars, pyspark.")
    ] = "duckdb,polars,pyspark",
    as_json: Json = False,
) -> None:
    """Minimum, mean and maximum for 408 stations, from the log and from CSV; all results must be equal."""
    from headrace.bench.brc import ITEMS, BrcSettings, run_brc  # noqa: PLC0415

    settings = BrcSettings(_names(items) or ITEMS, _names(against), rows or None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print(run_brc(settings, _say), as_json)


@app.command("nexmark")
def nexmark(
    *,
    queries: Annotated[str, typer.Option("--queries", help="Only these, as q0,q5; default: all.")] = "",
    events: Annotated[int, typer.Option("--events", min=0, help="How many; 0: 300,000, or 2,000,000 in full.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="2,000,000 events, the median of three rounds.")] = False,
    against: Annotated[str, typer.Option("--against", help="Peers, as a,b: pyspark, flink.")] = "pyspark",
    growth: Annotated[bool, typer.Option("--growth", help="Instead: what ten times the events take of ours.")] = False,
    as_json: Json = False,
) -> None:
    """Queries over an auction site, events per CPU-second; all results must be equal."""
    from headrace.bench.nexmark import NexmarkSettings, run_nexmark  # noqa: PLC0415
    from headrace.bench.nexmark_growth import run_growth  # noqa: PLC0415

    settings = NexmarkSettings.of(_names(queries), _names(against), events or None, full=full)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _print((run_growth if growth else run_nexmark)(settings, _say), as_json)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _say(sentence: str) -> None:
    """What goes on, beside the output: a suite takes minutes."""
    typer.secho(sentence, dim=True, err=True)


def _print(report: Report, as_json: bool) -> None:
    print_table(*report.table(), empty="nothing was measured")
    if as_json:
        print_json(report.to_dict())
