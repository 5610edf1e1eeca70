"""Which new schemas a subject takes: the levels, and what each compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from headrace.errors import InvalidInput
from headrace.registry.schemas import SchemaKind

Level: TypeAlias = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"
]
LEVELS: Final = get_args(Level)
DEFAULT_LEVEL: Final[Level] = "BACKWARD"


def require_level(level: str) -> Level:
    if level.upper() not in LEVELS:
        raise InvalidInput(f"unknown compatibility {level!r}", valid=LEVELS)
    return cast("Level", level.upper())


def incompatibilities(kind: SchemaKind, new: Any, old: Sequence[tuple[SchemaKind, Any]], level: Level) -> list[str]:
    """Why the level forbids the new schema after the old ones, the newest last; nothing where it is allowed.

    BACKWARD: readers with the new schema read what was written with the last one. FORWARD: the other way round.
    FULL: both. TRANSITIVE: with all old ones, not the last alone.
    """
    if level == "NONE" or not old:
        return []
    compared = old if level.endswith("TRANSITIVE") else old[-1:]
    found: list[str] = []
    for old_kind, schema in reversed(compared):
        if old_kind != kind:
            found.append(f"the schema type changes from {old_kind} to {kind}")
            continue
        if level.startswith(("BACKWARD", "FULL")):
            found += _problems(kind)(new, schema)
        if level.startswith(("FORWARD", "FULL")):
            found += _problems(kind)(schema, new)
    return found


def _problems(kind: SchemaKind) -> Callable[[Any, Any], list[str]]:
    if kind == "AVRO":
        from headrace.registry.avro_schemas import avro_problems  # noqa: PLC0415  (libraries are loaded where used)

        return avro_problems
    if kind == "PROTOBUF":
        from headrace.registry.protobuf_files import protobuf_problems  # noqa: PLC0415

        return protobuf_problems
    return _json_problems


def _json_problems(reader: Any, writer: Any) -> list[str]:
    """Whether one JSON schema takes all that another does is not decided here; only that they are the same."""
    if reader == writer:
        return []
    return ["JSON schemas that differ are not compared here: set the compatibility of the subject to NONE to take it"]
