"""`headrace pipeline`: pipelines and their versions on the running server."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Annotated, Any, Final

import typer

from headrace.cli.connect import server_of
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import console, print_json, print_table, print_text
from headrace.cli.starting import Begin, Reset, Truncate, Yes, choice, confirmed, print_started
from headrace.errors import InvalidInput

STATUS_COLUMNS: Final = (
    "pipeline", "state", "query", "batch", "batch ms", "rows/s", "lag", "bad", "late", "restarts",
)  # fmt: skip

app = typer.Typer(help="Save, show, compare, start and stop pipelines.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The pipeline's name.")]
Source = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A .sql, .txt (text notation) or .json file, SQL, or - for SQL from stdin."),
]
Called = Annotated[str | None, typer.Option("--name", help="Name the pipeline; wins over the name in the file.")]


@app.command("save")
def save(
    source: Source,
    *,
    name: Called = None,
    note: Annotated[str, typer.Option("--note", "-m", help="What changed and why.")] = "",
    author: Annotated[str, typer.Option("--author", envvar="USER", help="Who changed it.")] = "",
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Save a pipeline as a new version."""
    from headrace.cli.reading import body, read_source  # noqa: PLC0415

    pipeline = read_source(source, name).pipeline()
    with server_of(data_dir) as server:
        saved = server.save(body(pipeline), note=note, author=author)
    if as_json:
        print_json(saved)
    else:
        number = saved["version"]["number"]
        print_text(f"{pipeline.name} version {number}" + ("" if saved["is_new"] else " (nothing changed)"))


@app.command("validate")
def validate(source: Source, *, name: Called = None, as_json: Json = False) -> None:
    """Check a pipeline; nothing is saved, and no server is needed."""
    from headrace.cli.reading import read_source  # noqa: PLC0415

    pipeline = read_source(source, name).pipeline()
    count = len(pipeline.document().nodes)
    if as_json:
        print_json({"pipeline": pipeline.name, "valid": True, "nodes": count})
    else:
        print_text(f"{pipeline.name} is valid: {count} nodes")


@app.command("list")
def listing(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """List the pipelines."""
    with server_of(data_dir) as server:
        found = server.pipelines()
    if as_json:
        print_json({"pipelines": found})
    else:
        rows = ((p["name"], _version(p), p["state"], p["latest"]["saved_at"][:19]) for p in found)
        print_table(("pipeline", "version", "state", "saved at"), rows, empty="no pipelines yet")


@app.command("show")
def show(
    name: Name,
    *,
    version: Annotated[int | None, typer.Option("--version", "-v", min=1, help="Default: the latest.")] = None,
    to: Annotated[str, typer.Option("--to", help="sql, text, python or json.")] = "sql",
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Show a pipeline in a notation."""
    from headrace.cli.reading import NOTATIONS  # noqa: PLC0415

    if to not in NOTATIONS:
        raise InvalidInput(f"no notation is named {to!r}", valid=NOTATIONS)
    with server_of(data_dir) as server:
        shown = server.show(name, version)
        changed = [] if version is not None else _changed_by_signals(server.jobs(), name)
    for line in changed:
        print(line, file=sys.stderr)
    if as_json:
        print_json(shown)
    elif to == "json":
        console().print_json(data=shown["document"])
    elif shown[to] is None:
        raise InvalidInput(f"{name} cannot be said in {to}", valid=[n for n in NOTATIONS if shown.get(n)])
    else:
        print_text(shown[to])


@app.command("versions")
def versions(name: Name, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """List the versions of a pipeline."""
    with server_of(data_dir) as server:
        found = server.versions(name)
    if as_json:
        print_json({"versions": found})
    else:
        rows = (
            (v["number"], v["saved_at"][:19], _ran(v["ran_at"]), v["author"], v["note"], v["content_hash"][:12])
            for v in found
        )
        print_table(("version", "saved at", "ran at", "author", "note", "hash"), rows, empty="no versions")


@app.command("diff")
def diff(
    name: Name,
    old: Annotated[int, typer.Argument(min=1, help="A version number.")],
    new: Annotated[int, typer.Argument(min=1, help="Another version number.")],
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Show what changed in meaning between two versions."""
    with server_of(data_dir) as server:
        found = server.diff(name, old, new)
    if as_json:
        print_json(found)
    else:
        print_text("\n".join(found["changes"]) or "no change")


@app.command("start")
def start(
    name: Name,
    *,
    version: Annotated[
        int | None,
        typer.Option("--version", "-v", min=1, help="Default: the one that ran last, or the latest if none ever ran."),
    ] = None,
    begin: Begin = None,
    reset: Reset = False,
    yes: Yes = False,
    truncate: Truncate = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Start a pipeline; it runs until stopped, through restarts of the server."""
    wished = choice(begin, reset=reset, yes=yes, truncate=truncate)
    with server_of(data_dir) as server:
        job = confirmed(lambda chosen: server.start(name, version=version, **chosen), wished, as_json=as_json)
        newer = [] if version or as_json else [v for v in server.versions(name) if v["number"] > job["version"]]
    if as_json:
        print_json(job)
        return
    print_started(job)
    for other in newer:
        ran = "did not run last" if other["ran_at"] else "never ran"
        print_text(f"  version {other['number']} {ran}: --version {other['number']} starts it")


@app.command("stop")
def stop(name: Name, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """Stop a pipeline; a later start goes on where it was."""
    with server_of(data_dir) as server:
        _print_job(server.stop(name), as_json)


@app.command("status")
def status(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Default: all that were started.")] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Show state, rows, lag, bad and late rows, and batch time of running pipelines."""
    with server_of(data_dir) as server:
        jobs = server.jobs() if name is None else [server.job(name)]
    if as_json:
        print_json({"jobs": jobs})
        return
    rows = [_query_row(job, query) for job in jobs for query in job["queries"]]
    print_table(
        STATUS_COLUMNS,
        rows or [(j["pipeline"], j["state"], *[""] * (len(STATUS_COLUMNS) - 2)) for j in jobs],
        empty="nothing was started",
    )
    for job in jobs:
        for node, count in bad_rows(job).items():
            print_text(f"{job['pipeline']}: {count} bad rows at {node} since the job started")
        if job["paused_by"]:
            print_text(f"{job['pipeline']}: paused by signal {job['paused_by']}")
        for line in _changed_by_signals(jobs, job["pipeline"]):
            print_text(line)
        if job.get("newer_code"):
            print_text(f"{job['pipeline']}: {job['newer_code']}")
        if job["waits_for"]:
            print_text(f"{job['pipeline']}: waits: {job['waits_for']}")
        if job["error"] and job["error"]["message"] != job["waits_for"]:
            console().print(f"{job['pipeline']}: {job['error']['message']}", style="red", markup=False)


@app.command("events")
def events(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Default: of all pipelines.")] = None,
    *,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Stop after so many.")] = None,
    from_start: Annotated[bool, typer.Option("--from-start", help="Begin with the events that are kept.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Follow what happens to pipelines, one line per event, until Ctrl-C."""
    with server_of(data_dir) as server:
        for count, event in enumerate(server.events(name, from_start=from_start), start=1):
            if as_json:
                print_json(event)
            else:
                print_text(f"{event.get('number', '')} {event.get('pipeline', '')} {event.get('kind', event)}")
            if count == limit:
                return


@app.command("delete")
def delete(
    name: Name,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Delete a pipeline and all its versions; topics stay."""
    if not yes and not as_json:
        typer.confirm(f"Delete {name} and all its versions?", abort=True)
    with server_of(data_dir) as server:
        deleted = server.delete(name)
    if as_json:
        print_json(deleted)
    else:
        print_text(f"{name} deleted")


def _version(pipeline: dict[str, Any]) -> str:
    runs, latest = pipeline["version"], pipeline["latest"]["number"]
    return str(latest) if runs == latest else f"{runs} (latest {latest})"


def _ran(at: str | None) -> str:
    return "never" if at is None else at[:19]


def _print_job(job: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(job)
    else:
        print_text(f"{job['pipeline']} is {job['state']}")


def bad_rows(job: dict[str, Any]) -> dict[str, int]:
    """By node, where there are some."""
    counted = Counter[str]()
    for query in job["queries"]:
        counted.update({node["node"]: node["bad_total"] for node in query["nodes"]})
    return {node: count for node, count in sorted(counted.items()) if count}


def _query_row(job: dict[str, Any], query: dict[str, Any]) -> tuple[object, ...]:
    lag = sum(query["lag"].values())
    rate = f"{query['rows_per_second']:,.0f}"
    return (
        job["pipeline"],
        job["state"],
        query["name"],
        query["batch"],
        round(query["batch_ms"]),
        rate,
        lag,
        sum(node["bad_total"] for node in query["nodes"]),
        sum(node["late_total"] for node in query["nodes"]),
        job["restarts"],
    )


def _changed_by_signals(jobs: list[dict[str, Any]], name: str) -> list[str]:
    """Settings in force that are not those of the document, a line for each node."""
    return [
        f"{name}: a signal changed {node}: " + ", ".join(f"{key}={json.dumps(value)}" for key, value in own.items())
        for job in jobs
        if job["pipeline"] == name
        for node, own in job["parameters"].items()
    ]
