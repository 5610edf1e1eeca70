"""What a caller of the Python builder chose: documents hold nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from headrace.graph.document import Json, canonical_json

Names: TypeAlias = str | Sequence[str]


def listed(names: Names) -> list[Json]:
    return [names] if isinstance(names, str) else list(names)


def given(method: Callable[..., object], settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that differ from the method's defaults: a document holds only what was chosen."""
    parameters = inspect.signature(method).parameters
    return {name: value for name, value in settings.items() if not _is_default(parameters[name], value)}


def _is_default(parameter: inspect.Parameter, value: Json) -> bool:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return False
    return canonical_json(list(default) if isinstance(default, tuple) else default) == canonical_json(value)
