"""`${NAME:default}` anywhere in a script, replaced before it is read; `$${` stands for `${` itself.

`${secret:NAME}` is no variable: it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from headrace.errors import InvalidSyntax, did_you_mean
from headrace.graph.places import place_at
from headrace.process.secrets import REFERENCE

_VARIABLE: Final = re.compile(r"\$\$\{|\$\{(?P<name>[A-Za-z_]\w*)(?::(?P<default>[^}]*))?\}|\$\{")

# Of what `expand` would replace, all but the references to secrets.
_PLAIN: Final = re.compile(rf"(?!(?<!\$){REFERENCE.pattern})\$\{{", re.ASCII)


def expand(sql: str, values: Mapping[str, str]) -> str:
    """Raises InvalidSyntax, with the place, for a variable that has neither a value nor a default, or no name.

    What is put in is not looked at again.
    """
    return _VARIABLE.sub(lambda match: _replacement(sql, match, values), sql)


def escape(sql: str) -> str:
    """A text that `expand` turns back into this one, whatever the values."""
    return _PLAIN.sub("$${", sql)


def _replacement(sql: str, match: re.Match[str], values: Mapping[str, str]) -> str:
    if match.group() == "$${":
        return "${"
    if REFERENCE.fullmatch(match.group()):
        return match.group()  # stays a reference: its value belongs into no document
    name: str | None = match["name"]
    default: str | None = match["default"]
    if name is None:
        hint = "write ${NAME} or ${NAME:default}, with letters, digits and _ in NAME; $${ stands for ${ itself"
        raise InvalidSyntax("${ opens no variable", place=place_at(sql, match.start(), len(match.group())), hint=hint)
    value = values.get(name, default)
    if value is None:
        place = place_at(sql, match.start(), match.end() - match.start())
        hint = did_you_mean(name, values) or f"give it a value, or a default: ${{{name}:…}}"
        raise InvalidSyntax(f"the variable {name!r} has no value", place=place, hint=hint)
    return value
