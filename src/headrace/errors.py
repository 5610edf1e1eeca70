"""Every error that Headrace raises on purpose.

HeadraceError
├── InvalidInput            the caller gave something wrong: change it and try again
│   ├── InvalidConfig       a config file, an option, an operator's settings
│   ├── LiveQuestion        a SELECT over streams where an answer at once was asked for
│   ├── InvalidGraph        a pipeline document that cannot run (carries all problems found)
│   └── InvalidSyntax       SQL or text notation that does not parse or resolve
├── NotFound                a topic, pipeline, version or job that does not exist
├── Conflict                the thing exists, is in use, or changed meanwhile
│   ├── NeedsBegin          queries of a pipeline would begin anew, and nobody said where
│   └── NeedsConfirmation   a reset repeats or forgets something, and nobody confirmed that
├── ExternalFailure         disk, network, a remote broker: may pass
│   ├── DiskFailure         a write or a sync that the disk refused
│   ├── EngineLost          Spark's Java process is not there: it starts, or starts again
│   └── QueryStuck          a streaming query did not move for too long
├── CorruptData             stored bytes that do not match their checksum; never repaired silently
└── JobFailed               a running pipeline failed; names the node
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import ClassVar, Literal

Domain = Literal["user", "external", "internal"]


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a text that a person wrote. Line and column count from 1."""

    line: int
    column: int
    text: str
    length: int = 1

    def marked(self) -> str:
        """The line, with a mark under the spot."""
        lines = self.text.splitlines() or [""]
        shown = lines[min(self.line, len(lines)) - 1]
        return f"{shown}\n{' ' * (self.column - 1)}{'^' * max(1, self.length)}"


class HeadraceError(Exception):
    """The base: a sentence for people, and fields for programs. `record` is the one at fault, where one is."""

    code: ClassVar[str] = "error"
    domain: ClassVar[Domain] = "internal"
    retriable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        node: str | None = None,
        place: Place | None = None,
        valid: Iterable[str] = (),
        record: Mapping[str, object] | None = None,
    ) -> None:
        self.message = message
        self.hint = hint
        self.node = node
        self.place = place
        self.valid = tuple(valid)
        self.record = None if record is None else dict(record)
        super().__init__(message)

    def __str__(self) -> str:
        parts = [self.message]
        if self.node:
            parts[0] = f"node {self.node!r}: {self.message}"
        if self.place:
            parts[0] += f" (line {self.place.line}, column {self.place.column})"
            parts.append(self.place.marked())
        if self.valid:
            parts.append(f"valid: {', '.join(self.valid)}")
        if self.hint:
            parts.append(f"hint: {self.hint}")
        if self.record:
            # The last line: where only the text of an error comes through, it is read back from there.
            parts.append(f"record: {json.dumps(self.record, default=str)}")
        return "\n".join(parts)

    def to_dict(self) -> dict[str, object]:
        """The same as a JSON object, for `--json` and for the HTTP API."""
        fields: dict[str, object] = {"code": self.code, "domain": self.domain, "message": self.message}
        if self.node:
            fields["node"] = self.node
        if self.place:
            fields["place"] = {"line": self.place.line, "column": self.place.column, "marked": self.place.marked()}
        if self.valid:
            fields["valid"] = list(self.valid)
        if self.hint:
            fields["hint"] = self.hint
        if self.record:
            fields["record"] = json.loads(json.dumps(self.record, default=str))
        return fields


class InvalidInput(HeadraceError):
    code = "invalid_input"
    domain = "user"


class InvalidConfig(InvalidInput):
    code = "invalid_config"


class LiveQuestion(InvalidInput):
    code = "live_question"


class InvalidSyntax(InvalidInput):
    code = "invalid_syntax"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a pipeline document cannot run."""

    code: str
    message: str
    node: str | None = None
    hint: str | None = None
    setting: str | None = None

    def __str__(self) -> str:
        where = f"node {self.node!r}: " if self.node else ""
        return f"{where}{self.message}" + (f" ({self.hint})" if self.hint else "")


class InvalidGraph(InvalidInput):
    code = "invalid_graph"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "problems": [asdict(problem) for problem in self.problems]}


class NotFound(HeadraceError):
    code = "not_found"
    domain = "user"


class Conflict(HeadraceError):
    code = "conflict"
    domain = "user"


class NeedsBegin(Conflict):
    code = "needs_begin"


class NeedsConfirmation(Conflict):
    code = "needs_confirmation"


class ExternalFailure(HeadraceError):
    code = "external_failure"
    domain = "external"
    retriable = True


class DiskFailure(ExternalFailure):
    code = "disk_failure"


class EngineLost(ExternalFailure):
    code = "engine_lost"


class QueryStuck(ExternalFailure):
    code = "query_stuck"


class CorruptData(HeadraceError):
    code = "corrupt_data"
    domain = "external"


class JobFailed(HeadraceError):
    code = "job_failed"


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint for a mistyped name, or None when nothing comes near."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None
