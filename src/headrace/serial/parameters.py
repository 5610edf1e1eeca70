"""Settings that functions, sources and sinks in Python take: a parameter `settings` that is a dataclass."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Final, get_type_hints

from headrace.errors import InvalidInput

SETTINGS: Final = "settings"


def settings_type_of(function: Callable[..., Any]) -> type | None:
    """The dataclass that a function, or a class when it is made, takes as `settings`; None where it takes none.

    Raises InvalidInput for a parameter of that name which is no dataclass.
    """
    if SETTINGS not in inspect.signature(function).parameters:
        return None
    place = getattr(function, "__qualname__", repr(function))
    called = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    found = get_type_hints(called).get(SETTINGS)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise InvalidInput(f"{place} takes settings that are no dataclass", hint="def f(row: Row, settings: Limits)")
    return found
