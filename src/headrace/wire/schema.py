"""What kio's generated classes say about a message: found by name, imported when first needed.

All of them together cost more than a second and 50 MB, so each is imported on its own.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

Kind = Literal["request", "response"]


class WireName(NamedTuple):
    """In `Annotated`: what the protocol calls a field of ours."""

    name: str


def entity_type(schema: str, kind: Kind, version: int) -> Any:
    module = import_module(f"kio.schema.{schema}.v{version}.{kind}")
    name = schema.replace("_", "") + kind
    return next(value for key, value in vars(module).items() if key.lower() == name)


def is_flexible(schema: str, version: int) -> bool:
    """Whether a version uses the compact encoding, and with it headers with tagged fields."""
    return bool(entity_type(schema, "request", version).__flexible__)


def our_names(ours: Any, theirs: Any) -> dict[str, str]:
    """Fields of a message of ours by their names in the schema, those left out that this version does not have."""
    known = {field.name for field in dataclasses.fields(theirs)}
    found = {}
    for field, hint in get_type_hints(ours, include_extras=True).items():
        given = [extra.name for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, WireName)]
        name = next((name for name in (*given, field, field.removesuffix("_ms")) if name in known), None)
        if name is not None:
            found[name] = field
    return found


def tag_of(field: dataclasses.Field[Any]) -> int | None:
    tag = field.metadata.get("tag")
    return None if tag is None else int(tag)


def entry_type(hint: Any) -> Any:
    """The message or schema class inside `tuple[X, ...]` or `tuple[X, ...] | None`; None when there is none."""
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return hint
    if get_origin(hint) in (tuple, Union, UnionType):
        found = [entry_type(argument) for argument in get_args(hint)]
        return next((entry for entry in found if entry is not None), None)
    return None


def is_array(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(is_array(argument) for argument in get_args(hint))
    return get_origin(hint) is tuple
