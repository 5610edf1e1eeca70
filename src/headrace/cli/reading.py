"""A pipeline from a file, from standard input, or from the command line itself, in whichever notation."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from headrace.errors import InvalidInput

if TYPE_CHECKING:
    from headrace.pipeline import Pipeline

Notation = Literal["sql", "text", "python", "json"]
NOTATIONS: Final[tuple[str, ...]] = get_args(Notation)

_SUFFIXES: Final = {".sql": "sql", ".txt": "text", ".hr": "text", ".json": "json"}


@dataclass(frozen=True, slots=True)
class Source:
    """`notation` is how `content` is written: sql, text or json."""

    content: str
    notation: str
    name: str | None = None

    def pipeline(self, variables: Mapping[str, str] = MappingProxyType({})) -> Pipeline:
        """Checked as a whole; `variables` are the values of `${NAME}` in SQL.

        Raises InvalidSyntax with the place, InvalidGraph, InvalidInput.
        """
        from headrace.graph import Document  # noqa: PLC0415
        from headrace.pipeline import Pipeline  # noqa: PLC0415
        from headrace.spark.planning.checks import validate_planned  # noqa: PLC0415

        if self.notation == "sql":
            made = Pipeline.from_sql(self.content, self.name, variables=variables)
        elif self.notation == "text":
            made = Pipeline.from_text(self.content, self._required_name())
        else:
            document = Document.from_json(self.content)
            made = Pipeline.from_document(document)
            made.name = self.name or document.name
        validate_planned(made.document(), made.catalogue)
        return made

    def _required_name(self) -> str:
        if self.name is None:
            raise InvalidInput("a pipeline in text notation needs a name", hint="--name NAME")
        return self.name


def read_source(given: str, name: str | None) -> Source:
    """A file of a known ending, `-` for SQL from standard input, or else SQL itself. Raises InvalidInput."""
    path = Path(given)
    if given == "-":
        return Source(sys.stdin.read(), "sql", name)
    if path.suffix in _SUFFIXES or _is_file(path):
        return _read_file(path, name)
    return Source(given, "sql", name)


def show(pipeline: Pipeline, notation: str) -> str:
    """Raises InvalidInput for a notation that does not exist."""
    shown: dict[str, Callable[[], str]] = {
        "sql": pipeline.to_sql,
        "text": pipeline.to_text,
        "python": pipeline.to_python,
        "json": lambda: json.dumps(pipeline.document().to_dict(), indent=2),
    }
    if notation not in shown:
        raise InvalidInput(f"no notation is named {notation!r}", valid=NOTATIONS)
    return shown[notation]()


def body(pipeline: Pipeline) -> dict[str, Any]:
    """What the server takes."""
    return {"document": pipeline.document().to_dict()}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a name: it is a statement
        return False


def _read_file(path: Path, name: str | None) -> Source:
    notation = _SUFFIXES.get(path.suffix, "sql")
    try:
        content = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return Source(content, notation, name or (path.stem if notation == "text" else None))
