"""`headrace state`: what serial operators keep."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.connect import bootstrap_of, server_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import print_json, print_table, print_text
from headrace.errors import Conflict, NotFound

if TYPE_CHECKING:
    from headrace.wire.client import Client

app = typer.Typer(help="Look at the state of pipelines, and spread it anew.", no_args_is_help=True)


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
    columns = ("query", "batch", "watermark", "node", "lane", "changes", "bytes")
    rows = ([lane[column] for column in columns] for lane in lanes)
    print_table(columns, rows, empty="no serial operator of this pipeline has state")


@app.command("repartition")
def repartition(
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE", help="The pipeline's name.")],
    lanes: Annotated[int, typer.Option("--lanes", "-n", min=1, help="How many lanes its keys are spread over.")],
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Spread the state of a stopped pipeline over another number of lanes; its next start goes on with them."""
    from headrace.graph import Document, validate  # noqa: PLC0415
    from headrace.operators import load_catalogue  # noqa: PLC0415
    from headrace.spark.jobs.repartition import repartition as run  # noqa: PLC0415

    with server_of(data_dir) as server:
        state = next((job["state"] for job in server.jobs() if job["pipeline"] == pipeline), "stopped")
        if state not in ("stopped", "failed"):
            raise Conflict(f"pipeline {pipeline!r} is {state}", hint=f"headrace pipeline stop {pipeline}")
        document = Document.from_dict(server.show(pipeline)["document"])
    catalogue = load_catalogue()
    bootstrap = bootstrap_of(data_dir, None)
    done = run(validate(document, catalogue), catalogue, bootstrap, data_dir / "jobs", lanes)
    if as_json:
        print_json({"pipeline": pipeline, "queries": [asdict(query) for query in done]})
        return
    for query in done:
        print_text(f"{query.query}: {query.lanes_before} → {query.lanes} lanes")


def _queries(client: Client, pipeline: str) -> list[str]:
    from headrace.spark.writing.commit import commit_topic  # noqa: PLC0415

    prefix = commit_topic(f"{pipeline}.")
    return sorted(
        topic.removeprefix(commit_topic("")) for topic in client.metadata().topics if topic.startswith(prefix)
    )


def _lanes(client: Client, query: str) -> list[dict[str, Any]]:
    from headrace.spark.chains.orders import ChainRecord  # noqa: PLC0415
    from headrace.spark.writing.commit import CommitLog  # noqa: PLC0415

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
            "bytes": version.size_bytes,
        }
        for node, lanes in record.manifest.items()
        for lane, version in sorted(lanes.items())
    ]


def _moment(us: int | None) -> str:
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    return "–" if us is None else (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)).isoformat()
