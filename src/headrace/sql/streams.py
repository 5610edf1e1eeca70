"""The streams, tables and views of a script by their names, and the nodes that they are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.operators.catalogue import Catalogue
from headrace.sql.assembly import Assembly, Output
from headrace.sql.declarations import Declaration
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import (
    Create,
    CreateAs,
    CreateTrigger,
    CreateView,
    Delete,
    Insert,
    Statement,
    Update,
    Upsert,
)
from headrace.sql.language.tree import Name, Reference
from headrace.sql.language.walk import names_read
from headrace.sql.late_options import LateOptions

# An error names the streams that are most like the one it misses.
NAMES_SHOWN_MAX: Final = 8


class Streams:
    """What the statements so far have defined. A name is found exactly, or as the only one that differs in case."""

    def __init__(
        self, script: Script, statements: tuple[Statement, ...], catalogue: Catalogue, assembly: Assembly
    ) -> None:
        self._script = script
        self._catalogue = catalogue
        self._assembly = assembly
        self._defined = [s.name for s in statements if isinstance(s, Create | CreateAs | CreateView | CreateTrigger)]
        self._read = {name.text for statement in statements for name in names_read(statement)}
        # An UPDATE looks up the rows that it changes.
        self._read |= {s.target.text for s in statements if isinstance(s, Update)}
        self._written = {s.target.text for s in statements if isinstance(s, Insert | Upsert | Update | Delete)}
        self._declared: dict[str, Declaration] = {}
        self._views: dict[str, Output] = {}

    def declare(self, statement: Create) -> None:
        """Raises InvalidSyntax for a name that is taken, or an unknown connector."""
        self.require_free(statement.name)
        self._declared[statement.name.text] = Declaration(self._script, statement, self._catalogue)

    def define(self, name: Name, output: Output) -> None:
        """The rows of a query under a name. Its statement has called `require_free` first."""
        self._views[name.text] = output

    def require_free(self, name: Name) -> None:
        if name.text in self._declared or name.text in self._views:
            raise self._script.error(f"{name.text!r} is defined twice", name.span)

    def output(self, reference: Reference, *, is_checked: bool) -> Output:
        """The node that a name means. A declared stream becomes a source when it is first read.

        Unchecked, a name that nothing defines is a node elsewhere.
        """
        name = self._resolve(reference.name)
        if name is None:
            if is_checked:
                raise self._unknown(reference.name)
            return Output(reference.name.text, reference.port)
        if name in self._views:
            return Output(self._views[name].node, reference.port)
        if name not in self._assembly:
            declaration = self._declared[name]
            operator, config = declaration.source(written=self.is_written(name))
            self._assembly.add(name, operator, config, [], declaration.origin)
        return Output(name, reference.port)

    def late_of(self, sources: Iterable[str]) -> LateOptions | None:
        """What becomes of late rows that come from these nodes. Raises InvalidSyntax where they do not agree."""
        told = [late for name in sources if name in self._declared and (late := self._declared[name].late) is not None]
        if any(late.settings != told[0].settings for late in told):
            raise self._script.error("the streams that meet here have different policies for late rows", told[-1].span)
        return told[0] if told else None

    def target(self, target: Name) -> Declaration:
        """The stream that a statement writes. Raises InvalidSyntax if it is none, or has its own rows."""
        name = self._resolve(target)
        if name in self._views:
            hint = "declare it with CREATE STREAM and without AS, and write two INSERT INTO"
            raise self._script.error(f"{name} has its rows from its own SELECT", target.span, hint=hint)
        if name is None:
            raise self._unknown(target, f"declare it first: CREATE STREAM {target.text} WITH (topic = '{target.text}')")
        return self._declared[name]

    def is_read(self, name: str) -> bool:
        """Whether any statement reads the stream, also one further down."""
        return self._is_among(name, self._read)

    def is_written(self, name: str) -> bool:
        return self._is_among(name, self._written)

    def check_unused(self) -> None:
        """Raises InvalidSyntax for options of streams that no statement uses, which nothing else checks."""
        for name, declaration in self._declared.items():
            if not self.is_written(name) and name not in self._assembly:
                declaration.check_unused()

    def _is_among(self, name: str, names: set[str]) -> bool:
        """Whether names mean this one: exactly, or in another case if nothing has exactly that name."""
        defined = {defined.text for defined in self._defined}
        return name in names or name.lower() in {other.lower() for other in names - defined}

    def _resolve(self, name: Name) -> str | None:
        known = [*self._declared, *self._views]
        if name.text in known:
            return name.text
        folded = [other for other in known if other.lower() == name.text.lower()]
        return folded[0] if len(folded) == 1 else None

    def _unknown(self, name: Name, otherwise: str | None = None) -> InvalidSyntax:
        known = (*self._declared, *self._views)
        later = [defined for defined in self._defined if defined.text == name.text]
        hint = did_you_mean(name.text, known) or otherwise
        if later and later[0].span.start < name.span.start:
            hint = "it is what this statement makes: name the stream that its rows come from"
        elif later:
            hint = f"it is defined further down, in line {self._script.place(later[0].span).line}: move it up"
        return self._script.error(
            f"unknown stream {name.text!r}", name.span, valid=_nearest(name.text, known), hint=hint
        )


def _nearest(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """All names where they are few, else those that are most like it."""
    return known if len(known) <= NAMES_SHOWN_MAX else tuple(get_close_matches(name, known, NAMES_SHOWN_MAX, 0.0))
