"""Operators from other packages, by entry point, and from the plugin folder.

A broken one is reported; it never keeps the rest from working.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from headrace.operators.catalogue import BUILT_IN, AnyOperator, Catalogue
from headrace.operators.config import setting_names
from headrace.operators.folder_modules import STATES_KEPT, Signature, is_kept
from headrace.operators.kept_code import code_name, keep_code
from headrace.operators.keyed_class import KeyedOperator
from headrace.operators.keyed_entry import entry_of
from headrace.operators.plugin_folder import folder_signature, in_folder, operators_in, plugin_files, plugin_folder
from headrace.operators.serial_operator import SerialOperator
from headrace.operators.session_values import values_of
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
    folder = plugin_folder()
    return Catalogue(operators.values(), problems, folder if folder is not None and is_kept(folder) else None)


class WatchedCatalogue(Catalogue):
    """For a process that lives long: the plugin folder counts as it is now. Files that are added, changed or removed
    are noticed within `look_again_s`; a broken one is among the problems, and keeps nothing else from working."""

    def __init__(self, look_again_s: float = LOOK_AGAIN_S) -> None:
        self._look_again_s = look_again_s
        self._looked_s = time.monotonic()
        self._loaded = folder_signature(), load_catalogue()
        self.folder = None
        self._content: tuple[Signature, str | None] = (), None

    def kept(self, root: Path, texts: Iterable[str] | None) -> Catalogue:
        folder = keep_code(root, {} if texts is None else values_of(texts))
        return load_catalogue() if folder is None else self.kept_in(folder)

    def kept_in(self, folder: str) -> Catalogue:
        return _kept_in(folder)

    def is_current(self, folder: str | None) -> bool:
        if (signature := folder_signature()) != self._content[0]:
            self._content = signature, code_name()
        return self._content[1] == (None if folder is None else Path(folder).name)

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


@lru_cache(maxsize=STATES_KEPT)
def _kept_in(folder: str) -> Catalogue:
    with in_folder(folder):
        return load_catalogue()


def _plugins(found: Iterable[EntryPoint]) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """What each plugin is called, and how to load what it defines."""
    for entry_point in found:
        yield f"{entry_point.name!r} ({entry_point.value})", partial(_load, entry_point)
    for path in plugin_files():
        yield f"{path.name!r}", partial(_load, path)


def _load(place: EntryPoint | Path) -> list[Any]:
    return list(operators_in(place)) if isinstance(place, Path) else [place.load()]


def _checked(loaded: Any) -> AnyOperator:
    if isinstance(loaded, type) and issubclass(loaded, KeyedOperator):
        operator: Any = entry_of(loaded)
    else:
        operator = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(operator, Operator):
        raise TypeError(f"{loaded!r} is no Operator")
    if isinstance(operator, SerialOperator) and operator.api_version != API_VERSION:
        raise ValueError(f"written for version {operator.api_version} of the operator API; this is {API_VERSION}")
    for setting in setting_names(operator.config_type):
        if setting in RESERVED_SETTINGS:
            raise ValueError(f"the setting name {setting!r} is reserved")
    return operator
