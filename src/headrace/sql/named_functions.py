"""CREATE FUNCTION: names for Python functions, within one script.

A document has no such names: its expressions call a function by its place, which says everything wherever the pipeline
goes. So calls by name are replaced before a script is read, and put back into a printed one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from headrace.errors import InvalidInput
from headrace.operators.functions import PLACE_MARK, find_function
from headrace.sql.function_aliases import aliased
from headrace.sql.functions import is_of_spark
from headrace.sql.language import print_statement, read_rewritten, read_statements
from headrace.sql.language.dialect import functions_in
from headrace.sql.language.script import Rewriting, Script, Span
from headrace.sql.language.statement_tree import CreateFunction, Statement
from headrace.sql.language.tree import Expression, Name
from headrace.sql.language.values import print_name
from headrace.sql.language.walk import parts

_WORD: Final = re.compile(r"[^\W\d]\w*")


def read_with_functions(sql: str) -> tuple[Script, tuple[Statement, ...]]:
    """The statements of a script, which call the functions that it creates by their places, and those that other
    engines name otherwise by Spark's names. Raises InvalidSyntax."""
    script, statements = read_statements(sql)
    places = _created(script, statements)
    calls = list(_calls(statements))
    own = [(span, print_name(places[name.lower()])) for name, span in calls if name.lower() in places]
    replaced = _in_order([*own, *aliased(script, calls, places)])
    return read_rewritten(Rewriting(sql, replaced)) if replaced else (script, statements)


def with_names(sql: str) -> str:
    """A printed script in which functions have names again, created at its start."""
    _, statements = read_statements(sql)
    calls = list(_calls(statements))
    places = dict.fromkeys(name for name, _ in calls if PLACE_MARK in name)
    if not places:
        return sql
    taken = {name.lower() for name, _ in calls}
    names = {place: _free_name(place, taken) for place in places}
    written = Rewriting(sql, _in_order((span, print_name(names[name])) for name, span in calls if name in names)).text
    created = [f"{print_statement(_creation(names[place], place))};" for place in places]
    return _below_annotations(written, created)


def _created(script: Script, statements: tuple[Statement, ...]) -> dict[str, str]:
    """Name, in lower case → place. Raises InvalidSyntax for a name that is taken, or a place without a function."""
    places: dict[str, str] = {}
    for part in parts(statements):
        if isinstance(part, CreateFunction):
            name = part.name.text.lower()
            if is_of_spark(name):
                raise script.error(f"{part.name.text!r} is a function of Spark", part.name.span)
            if name in places:
                raise script.error(f"the function {part.name.text!r} is created twice", part.name.span)
            _require_function(script, part.place)
            places[name] = part.place.text
    return places


def _require_function(script: Script, place: Name) -> None:
    if PLACE_MARK not in place.text:
        hint = "write it like 'package.module:name', or 'file.py:name' for a file of the plugin folder"
        raise script.error(f"{place.text!r} names no Python function", place.span, hint=hint)
    try:
        find_function(place.text)
    except InvalidInput as error:
        raise script.error(error.message, place.span, valid=error.valid, hint=error.hint) from error


def _calls(statements: tuple[Statement, ...]) -> Iterator[tuple[str, Span]]:
    """The functions that expressions call, and where their names stand."""
    for part in parts(statements):
        if isinstance(part, Expression):
            yield from functions_in(part.tree)


def _in_order(replaced: Iterable[tuple[Span, str]]) -> tuple[tuple[Span, str], ...]:
    """Each once: an expression inside of another is met with both."""
    return tuple(sorted(dict(replaced).items(), key=lambda pair: pair[0].start))


def _free_name(place: str, taken: set[str]) -> str:
    """The function's own name, or with a number where something else is called so; it is taken afterwards."""
    own = place.rpartition(PLACE_MARK)[2]
    name, number = own, 1
    while name.lower() in taken or is_of_spark(name) or not _WORD.fullmatch(name):
        number += 1
        name = f"{own if _WORD.fullmatch(own) else 'function'}_{number}"
    taken.add(name.lower())
    return name


def _creation(name: str, place: str) -> CreateFunction:
    nowhere = Span(0, 0)
    return CreateFunction(Name(name, nowhere), Name(place, nowhere), nowhere)


def _below_annotations(sql: str, created: list[str]) -> str:
    """The first lines of a printed script say its name."""
    head, _, rest = sql.partition("\n\n")
    return "\n\n".join([head, *created, rest])
