"""What a task hands to the driver: rows for topics, finished files, the newest rows for previews."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql.datasource import WriterCommitMessage


@dataclass(frozen=True, slots=True)
class TopicPart:
    """A task's rows for one topic partition, as record batches without a producer."""

    topic: str
    partition: int
    inline: bytes | None
    path: str | None

    def read(self) -> bytes:
        return self.inline if self.path is None else Path(self.path).read_bytes()  # type: ignore[return-value]

    def discard(self) -> None:
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A finished and synced file under a hidden name beside its final place."""

    node: str
    directory: str
    path: str
    suffix: str


@dataclass(frozen=True, slots=True)
class Staged(WriterCommitMessage):
    """The commit message of one task."""

    task: int
    topic_parts: tuple[TopicPart, ...]
    file_parts: tuple[FilePart, ...]
    previews: dict[str, list[str]]
    rows: dict[str, int]
    lanes: tuple[bytes, ...] = ()
    """What the lanes of a chain left, for the commit."""
