"""Modules of plugin folders, by folder: a process may need `shop` as a pipeline was started with it, and as it is now.

A module of the folder is found behind everything else that Python finds, so that no file there hides one of Python's.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final, TypeAlias

# In a kept copy: the folder that it is a copy of.
ORIGIN_FILE: Final = ".origin"
# Of one folder, with the files of its packages.
CODE_FILES_MAX: Final = 1_000
# States of folders whose modules stay in memory.
STATES_KEPT: Final = 64
# The package that runs is never one of a folder.
_OWN_PACKAGE: Final = "headrace"

Signature: TypeAlias = tuple[tuple[str, int], ...]
State: TypeAlias = tuple[str, Signature]

_lock = threading.RLock()
_current: State | None = None
_kept: OrderedDict[State | None, dict[str, ModuleType]] = OrderedDict()


def is_kept(folder: str) -> bool:
    """Whether it is a copy, whose files never change."""
    return os.path.exists(os.path.join(folder, ORIGIN_FILE))


def code_files(folder: str) -> list[Path]:
    """Python files in the folder and in its packages, by name; at most CODE_FILES_MAX."""
    found: list[Path] = []
    for path in _entries(folder):
        if path.suffix == ".py" and path.is_file():
            found.append(path)
        elif is_package(path):
            found += sorted(inner for inner in path.rglob("*.py") if inner.is_file())
    return found[:CODE_FILES_MAX]


def is_package(path: Path) -> bool:
    return path.name != _OWN_PACKAGE and path.is_dir() and (path / "__init__.py").is_file()


def _entries(folder: str) -> list[Path]:
    try:
        return sorted(path for path in Path(folder).iterdir() if not path.name.startswith("."))
    except OSError:
        return []


@contextmanager
def active_modules(folder: str | None, signature: Signature) -> Iterator[None]:
    """Inside, modules of the folder are those of its files as the signature has them. One thread at a time."""
    if folder is None:
        yield
        return
    with _lock:
        before = _current
        _switch((os.path.abspath(folder), signature))
        try:
            yield
        finally:
            _switch(before)


def stay_in(folder: str | None) -> None:
    """From now on modules of this folder are found; for a process that runs one task at a time."""
    with _lock:
        _switch(None if folder is None else (os.path.abspath(folder), ((folder, 0),)))


def _switch(state: State | None) -> None:
    global _current  # noqa: PLW0603  (as sys.modules, it is of the whole process)
    if state == _current:
        return
    if _FINDER not in sys.meta_path:
        place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(place, _FINDER)
    folders = [folder for one in (_current, state) if one is not None for folder in _with_origin(one[0])]
    _kept[_current] = {name: sys.modules.pop(name) for name in _names_of(folders)}
    sys.modules.update(_kept.get(state, {}))
    _kept.move_to_end(_current)
    while len(_kept) > STATES_KEPT:
        del _kept[next(one for one in _kept if one is not None)]
    importlib.invalidate_caches()
    _current = state


def _names_of(folders: Sequence[str]) -> list[str]:
    """Modules that were imported from the folders, with those of their packages."""
    tops = {path.stem for folder in folders for path in _entries(folder)} - {_OWN_PACKAGE}
    loaded = [name for name in sys.modules if name.partition(".")[0] in tops]
    return [name for name in loaded if _is_from(sys.modules[name.partition(".")[0]], folders)]


def _is_from(module: ModuleType, folders: Sequence[str]) -> bool:
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(os.path.dirname(place.removesuffix(f"{os.sep}__init__.py")) in folders for place in places)


@lru_cache(maxsize=STATES_KEPT)
def _with_origin(folder: str) -> tuple[str, ...]:
    try:
        return folder, Path(folder, ORIGIN_FILE).read_text()
    except OSError:
        return (folder,)


class _FolderFinder:
    """Finds top-level modules in the folder of the moment."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or _current is None or name == _OWN_PACKAGE:
            return None
        own = PathFinder.find_spec(name, [_current[0]])
        if own is None:
            return None
        folders = _with_origin(_current[0])
        elsewhere = [entry for entry in sys.path if os.path.abspath(entry) not in folders]
        return PathFinder.find_spec(name, elsewhere) or own


_FINDER: Final = _FolderFinder()
