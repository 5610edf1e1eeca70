"""Reads a test file. Everything that SQL does not know stands in comments, so the file is a pipeline as well.

    -- @case low batteries only
    CREATE STREAM low AS SELECT drone FROM telemetry WHERE battery < 20;
    -- @input telemetry
    -- | drone | battery |
    -- | d1    | 10      |
    -- @expect low
    -- | drone |
    -- | d1    |

What stands above the first @case belongs to every case of the file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from headrace.errors import InvalidSyntax, Place, did_you_mean

FILE_CHARACTERS_MAX: Final = 1_000_000
WORDS: Final = ("case", "expect", "input", "mode")
Mode: TypeAlias = Literal["batch", "stream", "restart"]
MODES: Final[tuple[Mode, ...]] = ("batch", "stream")
# A stream that is killed and started again: where a stream can run, and it is asked for.
RESTART: Final[Mode] = "restart"

_WORD: Final = re.compile(r"--\s*@(?P<word>\w+)\b[ \t]*(?P<rest>.*)")
_ROW: Final = re.compile(r"--\s*(?P<row>[|{].*)")
# Below the names of the columns. A row of empty cells has no dash.
_RULE: Final = re.compile(r"[|\s:]*-[|\s:-]*")
_CELL: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Given:
    """Rows as they are written: cells of a table, or JSON objects. `columns` are those that any row names; `is_shared`
    says that they stand above all cases, of which some may not read them."""

    stream: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, object], ...]
    line: int
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    given: Given
    is_ordered: bool


@dataclass(frozen=True, slots=True)
class Case:
    """`error` is a part of the message with which the SQL must be refused."""

    name: str
    line: int
    sql: str
    inputs: tuple[Given, ...]
    expectations: tuple[Expectation, ...]
    error: str | None
    modes: tuple[Mode, ...]


@dataclass(slots=True)
class _Draft:
    name: str
    line: int
    sql: list[str] = field(default_factory=list)
    inputs: list[Given] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    error: str | None = None
    modes: tuple[Mode, ...] = MODES


def read_cases(text: str, name: str) -> tuple[Case, ...]:
    """The cases of a file; `name` is that of a case that has none. Raises InvalidSyntax with the line."""
    if len(text) > FILE_CHARACTERS_MAX:
        raise InvalidSyntax(f"the file has {len(text)} characters; at most {FILE_CHARACTERS_MAX} are read")
    shared, *drafts = _Reader(text, name).run()
    found = drafts or [shared]
    cases = tuple(_case(shared if drafts else None, draft) for draft in found)
    for case in cases:
        if not case.expectations and case.error is None:
            raise _error(text, case.line, f"the case {case.name!r} expects nothing", hint="add -- @expect stream")
    return cases


def _case(shared: _Draft | None, draft: _Draft) -> Case:
    """Lines of other cases stay empty, so that errors in the SQL name the line of the file."""
    before = shared or _Draft(draft.name, draft.line)
    sql = [own or common for own, common in zip(draft.sql, before.sql, strict=True)] if shared else draft.sql
    return Case(
        draft.name,
        draft.line,
        "\n".join(sql),
        (*(replace(given, is_shared=True) for given in before.inputs), *draft.inputs),
        (*before.expectations, *draft.expectations),
        draft.error or before.error,
        draft.modes if draft.modes != MODES else before.modes,
    )


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._index = 0
        self._drafts = [_Draft(name, 1)]

    def run(self) -> list[_Draft]:
        """The shared part first. Each has as many lines of SQL as the file has lines."""
        while self._index < len(self._lines):
            line = self._lines[self._index].strip()
            self._index += 1
            match = _WORD.fullmatch(line)
            if match and match["word"] in WORDS:
                self._word(match["word"], match["rest"].strip())
            elif match and did_you_mean(match["word"], WORDS):
                raise self._failure(f"unknown word @{match['word']}", did_you_mean(match["word"], WORDS))
            elif _ROW.fullmatch(line):
                raise self._failure("rows stand below @input or @expect")
            else:
                self._put(self._lines[self._index - 1])
        for draft in self._drafts:
            draft.sql += [""] * (len(self._lines) - len(draft.sql))
        return self._drafts

    def _put(self, line: str) -> None:
        draft = self._drafts[-1]
        draft.sql += [""] * (self._index - 1 - len(draft.sql))
        draft.sql.append(line)

    def _word(self, word: str, rest: str) -> None:
        draft = self._drafts[-1]
        match word:
            case "case":
                self._drafts.append(_Draft(rest or f"case {len(self._drafts)}", self._index))
            case "mode":
                draft.modes = self._modes(rest)
            case "input":
                draft.inputs.append(self._given(rest))
            case "expect" if rest.startswith("error"):
                draft.error = rest.removeprefix("error").strip()
            case _:
                stream, is_ordered = rest.removesuffix("ordered").strip(), rest.endswith(" ordered")
                draft.expectations.append(Expectation(self._given(stream), is_ordered))

    def _modes(self, rest: str) -> tuple[Mode, ...]:
        modes = tuple(mode for mode in MODES if mode == rest)
        if not modes:
            raise self._failure(f"there is no mode {rest!r}", f"write one of {', '.join(MODES)}")
        return modes

    def _given(self, stream: str) -> Given:
        if not re.fullmatch(r"\w[\w.-]*", stream):
            raise self._failure(f"{stream!r} is no name of a stream")
        line = self._index
        rows: list[dict[str, object]] = []
        header: list[str] | None = None
        while self._index < len(self._lines) and (match := _ROW.fullmatch(self._lines[self._index].strip())):
            self._index += 1
            if match["row"].startswith("{"):
                rows.append(self._object(match["row"]))
            elif header is None:
                header = _cells(match["row"])
            elif not _RULE.fullmatch(match["row"]):
                rows.append(self._cells(header, match["row"]))
        columns = dict.fromkeys([*(header or ()), *(name for row in rows for name in row)])
        return Given(stream, tuple(columns), tuple(rows), line)

    def _object(self, row: str) -> dict[str, object]:
        try:
            found = json.loads(row, parse_float=Decimal)
        except ValueError as error:
            raise self._failure(f"this is no JSON object: {error}") from error
        return {str(name): value for name, value in found.items()}

    def _cells(self, header: list[str], row: str) -> dict[str, object]:
        cells = _cells(row)
        if len(cells) != len(header):
            raise self._failure(f"{len(cells)} cells below {len(header)} columns", "write \\| for a | in a cell")
        return dict(zip(header, map(Cell, cells), strict=True))

    def _failure(self, message: str, hint: str | None = None) -> InvalidSyntax:
        return _error(self._text, self._index, message, hint=hint)


class Cell(str):
    """What stands between two bars: its type is that of its column."""

    __slots__ = ()


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def _error(text: str, line: int, message: str, hint: str | None = None) -> InvalidSyntax:
    shown = text.split("\n")[line - 1] if line else ""
    return InvalidSyntax(message, place=Place(line, 1, text, max(1, len(shown))), hint=hint)
