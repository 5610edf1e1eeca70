"""Operators from other packages, by entry point, and from the plugin folder.

A broken one is reported; it never keeps the rest from working.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from headrace.operators.catalogue import BUILT_IN, AnyOperator, Catalogue
from headrace.operators.config import setting_names
from headrace.operators.plugin_folder import folder_signature, operators_in, plugin_files
from headrace.operators.serial_operator import SerialOperator
from headrace.operators.spec import Operator
from headrace.serial import API_VERSION

ENTRY_POINT_GROUP = "headrace.operators"
RESERVED_SETTINGS = ("id",)  # the builder's own keyword
# A server asks for operators all the time, and looks at the files behind them so often.
LOOK_AGAIN_S = 0.5


def load_catalogue(found: Iterable[EntryPoint] | None = None) -> Catalogue:
    """The built-in operators and those of plugins; `plugin_problems` says what could not be loaded."""
    operators: dict[str, AnyOperator] = {operator.spec.name: operator for operator in BUILT_IN}
    problems: list[str] = []
    for name, load in _plugins(entry_points(group=ENTRY_POINT_GROUP) if found is None else found):
        try:
            loaded = [_checked(plugin) for plugin in load()]
        except Exception as error:
            problems.append(f"plugin {name}: {type(error).__name__}: {error}")
            continue
        for operator in loaded:
            if operator.spec.name in operators:
                problems.append(f"plugin {name}: an operator named {operator.spec.name!r} exists already")
            else:
                operators[operator.spec.name] = operator
    return Catalogue(operators.values(), problems)


class WatchedCatalogue(Catalogue):
    """For a process that lives long: the plugin folder counts as it is now. Files that are added, changed or removed
    are noticed within `look_again_s`; a broken one is among the problems, and keeps nothing else from working."""

    def __init__(self, look_again_s: float = LOOK_AGAIN_S) -> None:
        self._look_again_s = look_again_s
        self._looked_s = time.monotonic()
        self._loaded = folder_signature(), load_catalogue()

    @property
    def _operators(self) -> Mapping[str, AnyOperator]:
        return self._now()._operators

    @property
    def plugin_problems(self) -> tuple[str, ...]:
        return self._now().plugin_problems

    def _now(self) -> Catalogue:
        if time.monotonic() - self._looked_s >= self._look_again_s:
            self._looked_s = time.monotonic()
            if (signature := folder_signature()) != self._loaded[0]:
                self._loaded = signature, load_catalogue()
        return self._loaded[1]


def _plugins(found: Iterable[EntryPoint]) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """What each plugin is called, and how to load what it defines."""
    for entry_point in found:
        yield f"{entry_point.name!r} ({entry_point.value})", partial(_load, entry_point)
    for path in plugin_files():
        yield f"{path.name!r}", partial(_load, path)


def _load(place: EntryPoint | Path) -> list[Any]:
    return list(operators_in(place)) if isinstance(place, Path) else [place.load()]


def _checked(loaded: Any) -> AnyOperator:
    operator = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(operator, Operator):
        raise TypeError(f"{loaded!r} is no Operator")
    if isinstance(operator, SerialOperator) and operator.api_version != API_VERSION:
        raise ValueError(f"written for version {operator.api_version} of the operator API; this is {API_VERSION}")
    for setting in setting_names(operator.config_type):
        if setting in RESERVED_SETTINGS:
            raise ValueError(f"the setting name {setting!r} is reserved")
    return operator
