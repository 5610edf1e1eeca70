"""Making committed files and previews visible; each step may be repeated after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from headrace.spark.specs import SinkSpec
from headrace.spark.writing.commit import FileMove
from headrace.spark.writing.file_stage import staged_prefix
from headrace.spark.writing.staged import Staged


def make_visible(moves: Iterable[FileMove]) -> None:
    """Renames finished files to their places. A move that was made before is found done."""
    folders = set()
    for move in moves:
        if os.path.exists(move.staged):
            os.replace(move.staged, move.final)
            folders.add(os.path.dirname(move.final))
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sweep(spec: SinkSpec, keep: Iterable[FileMove]) -> None:
    """Before a query starts: removes what attempts of earlier runs staged and nobody committed."""
    kept = {move.staged for move in keep}
    leftovers = list(Path(spec.staging).glob("*"))
    for output in spec.outputs:
        if output.kind == "file":
            leftovers += Path(output.target).glob(f"{staged_prefix(spec.query)}*")
    for path in leftovers:
        if str(path) not in kept and path.is_file():
            path.unlink()


def preview_path(spec: SinkSpec, node: str) -> Path:
    return Path(spec.staging).parent / "preview" / f"{node}.jsonl"


def update_preview(spec: SinkSpec, staged: Sequence[Staged]) -> None:
    """Keeps the newest rows of each preview in a small file that is replaced whole."""
    for output in spec.outputs:
        fresh = [row for message in staged for row in message.previews.get(output.node, ())]
        if not fresh:
            continue
        path = preview_path(spec, output.node)
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text().splitlines() if path.exists() else []
        newest = [*before, *fresh][-output.row_limit :]
        temporary = path.with_suffix(".new")
        temporary.write_text("\n".join(newest) + "\n")
        temporary.replace(path)
