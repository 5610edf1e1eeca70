"""A commit record under other node ids: what a query has done stays, where its nodes are called otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace.serial import LocalFiles, Version
from headrace.serial.versions import file_name
from headrace.spark.chains.batch_signals import SignalsRecord
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.reading.table_versions import TABLE_TAG
from headrace.spark.specs import NODE_TAG
from headrace.spark.writing.commit import CommitRecord


def moved(last: CommitRecord, renamed: Mapping[str, str], identity: str, state: Path) -> CommitRecord:
    """The same commit with every node under its new id (`renamed`: old → new). Files of state have the new ids too,
    and are on disk when this returns; the old ones are swept once the record is committed. Raises DiskFailure."""
    return replace(
        last,
        identity=identity,
        starts={renamed.get(node, node): offsets for node, offsets in last.starts.items()},
        released=last.released and {renamed.get(node, node): offsets for node, offsets in last.released.items()},
        offsets=_write_ahead(last.offsets, renamed),
        previous_offsets=_write_ahead(last.previous_offsets, renamed),
        chain=None if last.chain is None else _chain(last.chain, renamed, state),
        signals=None if last.signals is None else _signals(last.signals, renamed),
        totals=None if last.totals is None else _totals(last.totals, renamed),
    )


def _chain(value: Mapping[str, Any], renamed: Mapping[str, str], state: Path) -> dict[str, Any]:
    record = ChainRecord.from_json(value)
    files = LocalFiles(state)
    manifest: dict[str, Mapping[int, Version]] = {}
    for node, lanes in record.manifest.items():
        now = renamed.get(node, node)
        if now != node:
            names = [(lane, change.name) for lane, version in lanes.items() for change in version.changes]
            files.link_all((file_name(node, lane, name), file_name(now, lane, name)) for lane, name in names)
        manifest[now] = lanes
    return replace(record, manifest=manifest, nodes=None).to_json()


def _signals(value: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    record = SignalsRecord.from_json(value)
    standing = tuple(
        replace(request, node=None if request.node is None else renamed.get(request.node, request.node))
        for request in record.standing
    )
    parameters = {renamed.get(node, node): settings for node, settings in record.parameters.items()}
    return replace(record, standing=standing, parameters=parameters).to_json()


def _totals(value: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    tasks, reported = value["tasks"], value["reported"]
    by_node = {name: _renamed(reported[name], renamed) for name in ("rows", "bad", "late")}
    counted = [[renamed.get(node, node), *figure] for node, *figure in tasks["totals"]]
    return {
        "tasks": {**tasks, "totals": counted, "rows": _renamed(tasks["rows"], renamed)},
        "reported": {**reported, **by_node},
    }


def _renamed(by_node: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    return {renamed.get(node, node): value for node, value in by_node.items()}


def _write_ahead(text: str | None, renamed: Mapping[str, str]) -> str | None:
    """Spark's write-ahead file: its first two lines are Spark's own, then comes one line for each source."""
    if text is None or not renamed:
        return text
    return "\n".join(_line(line, renamed) if line.startswith("{") else line for line in text.split("\n"))


def _line(line: str, renamed: Mapping[str, str]) -> str:
    offsets: dict[str, Any] = json.loads(line)
    keys = {key: _key(key, renamed) for key in offsets}
    if all(old == new for old, new in keys.items()):
        return line
    return json.dumps({keys[key]: value for key, value in offsets.items()})


def _key(key: str, renamed: Mapping[str, str]) -> str:
    if key.startswith(NODE_TAG):
        node = key.removeprefix(NODE_TAG)
        return f"{NODE_TAG}{renamed.get(node, node)}"
    if key.startswith(TABLE_TAG):
        node, _, partition = key.removeprefix(TABLE_TAG).rpartition(":")
        return f"{TABLE_TAG}{renamed.get(node, node)}:{partition}"
    return key
