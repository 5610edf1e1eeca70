"""`headrace topic`: topics of the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.connect import bootstrap_of
from headrace.cli.options import DEFAULT_DATA_DIR, Bootstrap, DataDir, Json
from headrace.cli.output import console, print_json, print_table
from headrace.credential import require_ordinary
from headrace.errors import Conflict, InvalidInput, NotFound, did_you_mean

if TYPE_CHECKING:
    from headrace.wire.client import Client

app = typer.Typer(help="List, create, describe and delete topics.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's name.")]


@app.command("list")
def list_topics(
    all_topics: Annotated[bool, typer.Option("--all", help="The broker's own topics too.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """List the topics."""
    with _client(data_dir, bootstrap) as client:
        topics = client.metadata().topics
    shown = {name: len(topic.leaders) for name, topic in sorted(topics.items()) if all_topics or name[:2] != "__"}
    if as_json:
        print_json({"topics": [{"name": name, "partitions": count} for name, count in shown.items()]})
    else:
        print_table(("topic", "partitions"), shown.items(), empty="no topics yet")


@app.command("create")
def create(
    topic: Name,
    *,
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1, help="How many partitions.")] = 1,
    config: Annotated[
        list[str] | None, typer.Option("--config", "-c", metavar="NAME=VALUE", help="A setting; may be repeated.")
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Create a topic."""
    require_ordinary(topic)
    settings = dict(_setting(item) for item in config or ())
    with _client(data_dir, bootstrap) as client:
        if topic in client.metadata([topic]).topics:
            raise Conflict(f"topic {topic!r} exists already", hint=f"headrace topic describe {topic}")
        client.create_topics({topic: partitions}, settings, exist_ok=False)
    if as_json:
        print_json({"topic": topic, "partitions": partitions, "created": True})
    else:
        console().print(f"topic {topic} created with {partitions} partition{'s' * (partitions > 1)}", markup=False)


@app.command("delete")
def delete(
    topic: Name,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    bootstrap: Bootstrap = None,
    as_json: Json = False,
) -> None:
    """Delete a topic and all its records."""
    with _client(data_dir, bootstrap) as client:
        _require(client, topic)
        if not yes and not as_json:
            typer.confirm(f"Delete {topic} and all its records?", abort=True)
        client.delete_topics([topic])
    if as_json:
        print_json({"topic": topic, "deleted": True})
    else:
        console().print(f"topic {topic} deleted", markup=False)


@app.command("describe")
def describe(
    topic: Name, data_dir: DataDir = DEFAULT_DATA_DIR, bootstrap: Bootstrap = None, as_json: Json = False
) -> None:
    """Show a topic's partitions and their offsets."""
    from headrace.wire.client import EARLIEST, LATEST  # noqa: PLC0415

    with _client(data_dir, bootstrap) as client:
        indexes = _require(client, topic)
        first = client.list_offsets(topic, dict.fromkeys(indexes, EARLIEST))
        end = client.list_offsets(topic, dict.fromkeys(indexes, LATEST))
    rows = [
        (index, first[index].offset, end[index].offset, end[index].offset - first[index].offset) for index in indexes
    ]
    columns = ("partition", "first_offset", "end_offset", "records")
    if as_json:
        print_json({"topic": topic, "partitions": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        print_table([column.replace("_", " ") for column in columns], rows, empty="no partitions")


def _client(data_dir: DataDir, bootstrap: str | None) -> Client:
    from headrace.wire.client import Client  # noqa: PLC0415

    return Client(bootstrap_of(data_dir, bootstrap), client_id="headrace-cli")


def _require(client: Client, topic: str) -> list[int]:
    """The partitions of a topic. Raises NotFound with near names."""
    topics = client.metadata().topics
    if topic not in topics:
        names = sorted(name for name in topics if name[:2] != "__")
        raise NotFound(f"no topic {topic!r}", valid=names, hint=did_you_mean(topic, names))
    return sorted(topics[topic].leaders)


def _setting(item: str) -> tuple[str, str]:
    name, equals, value = item.partition("=")
    if not equals or not name:
        raise InvalidInput(f"{item!r} is no setting", valid=["NAME=VALUE, such as retention.ms=60000"])
    return name, value
