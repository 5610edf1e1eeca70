"""`headrace state`: what serial operators keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connect import bootstrap_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import print_json, print_table
from headrace.errors import NotFound

if TYPE_CHECKING:
    from headrace.wire.client import Client

app = typer.Typer(help="Look at the state of pipelines.", no_args_is_help=True)


@app.callback()
def _commands() -> None:
    """Each is a command, however many there are."""


@app.command("show")
def show(
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE", help="The pipeline's name.")],
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Show the committed state of serial operators, by node and lane, as the last commit record names it."""
    from headrace.wire.client import Client  # noqa: PLC0415

    with Client(bootstrap_of(data_dir, bootstrap), client_id="headrace-cli") as client:
        queries = _queries(client, pipeline)
        if not queries:
            raise NotFound(f"the pipeline {pipeline!r} has committed nothing", hint="headrace pipeline list")
        lanes = [lane for query in queries for lane in _lanes(client, query)]
    if as_json:
        print_json({"pipeline": pipeline, "lanes": lanes})
        return
    columns = ("query", "batch", "watermark", "node", "lane", "changes", "snapshot", "bytes")
    rows = ([lane[column] for column in columns] for lane in lanes)
    print_table(columns, rows, empty="no serial operator of this pipeline has state")


def _queries(client: Client, pipeline: str) -> list[str]:
    from headrace.spark.commit import commit_topic  # noqa: PLC0415

    prefix = commit_topic(f"{pipeline}.")
    return sorted(
        topic.removeprefix(commit_topic("")) for topic in client.metadata().topics if topic.startswith(prefix)
    )


def _lanes(client: Client, query: str) -> list[dict[str, Any]]:
    from headrace.spark.commit import CommitLog  # noqa: PLC0415
    from headrace.spark.orders import ChainRecord  # noqa: PLC0415

    last = CommitLog(client, query).peek()
    if last is None or last.chain is None:
        return []
    record = ChainRecord.from_json(last.chain)
    return [
        {
            "query": query,
            "batch": last.batch,
            "watermark": _moment(record.progress.watermark_us),
            "node": node,
            "lane": lane,
            "changes": len(version.changes),
            "snapshot": version.snapshot or "–",
            "bytes": version.snapshot_bytes + version.bytes_since,
        }
        for node, lanes in record.manifest.items()
        for lane, version in sorted(lanes.items())
    ]


def _moment(us: int | None) -> str:
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    return "–" if us is None else (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)).isoformat()
