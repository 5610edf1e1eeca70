"""What a start does to what is stored, said before it does it: where queries begin, and which rows come twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import Conflict, NeedsConfirmation, NotFound
from headrace.graph import Document
from headrace.operators import Catalogue
from headrace.server.topics import Topics
from headrace.spark.jobs.beginning import Begin, Beginning, plural

_CONFIRM_HINT = (
    "confirm it: --yes on the command line, `confirmed` in the API, a box in the editor's dialog. So that no row comes "
    "twice: --truncate (`truncate`) deletes the records of the output topics first, or give the sinks new topics and "
    "deploy that version"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wishes for the queries of a version that cannot go on, or shall not."""

    begin: Begin | None = None
    reset: bool = False
    confirmed: bool = False
    truncate: bool = False


GO_ON = Choice()


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a pipeline writes: topics, and folders of files."""

    topics: tuple[str, ...]
    folders: tuple[Path, ...]

    @classmethod
    def of(cls, document: Document, catalogue: Catalogue) -> Outputs:
        sinks = [node for node in document.nodes if catalogue.get(node.operator).spec.kind == "sink"]
        topics = {str(node.config["topic"]) for node in sinks if "topic" in node.config}
        folders = {Path(str(node.config["path"])).absolute() for node in sinks if "path" in node.config}
        return cls(tuple(sorted(topics)), tuple(sorted(folders)))


def require_confirmed(
    document: Document, beginnings: Sequence[Beginning], choice: Choice, outputs: Outputs, topics: Topics
) -> None:
    """Raises NeedsConfirmation for a reset of a pipeline that has commits, with all that follows from it."""
    if not choice.reset or choice.confirmed or not any(one.forgets for one in beginnings):
        return
    states = sorted({node for one in beginnings for node in one.empty})
    forgets = f"the state of {', '.join(states)} and its offsets" if states else "its offsets"
    said = [f"the reset of pipeline {document.name!r} forgets {forgets}."]
    again = _again(beginnings)
    if again:
        said.append(f"It reads again: {', '.join(again)}.")
        held = [*_held(outputs.topics, topics), *_files(outputs.folders, document.name)]
        if held:
            said.append(f"Rows that were written already come twice in {', '.join(held)}.")
    said.append("Nothing was stopped or forgotten yet.")
    raise NeedsConfirmation(" ".join(said), hint=_CONFIRM_HINT)


def require_unread(outputs: Outputs, others: Iterable[Document]) -> None:
    """Raises Conflict where another pipeline reads a topic that is to be truncated: its records would be gone."""
    for other in others:
        for node in other.nodes:
            if node.operator == "topic" and node.config.get("topic") in outputs.topics:
                message = f"pipeline {other.name!r} reads the topic {node.config['topic']!r}, so it is not truncated"
                raise Conflict(message, hint="give the sinks new topics, and deploy that version")


def _again(beginnings: Sequence[Beginning]) -> list[str]:
    records: dict[str, int] = {}
    for one in beginnings:
        for topic, count in one.again.items():
            records[topic] = max(count, records.get(topic, 0))
    return [f"{plural(count, 'record')} of topic {topic}" for topic, count in sorted(records.items()) if count]


def _held(names: Iterable[str], topics: Topics) -> Iterable[str]:
    for name in names:
        try:
            count = topics.describe(name).messages
        except NotFound:
            continue
        if count:
            yield f"topic {name} (up to {plural(count, 'record')})"


def _files(folders: Iterable[Path], pipeline: str) -> Iterable[str]:
    for folder in folders:
        count = len(list(folder.glob(f"{pipeline}.*")))
        if count:
            yield f"{folder} ({plural(count, 'file')})"
