"""Public names that are loaded when they are first used: a process imports what it runs, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def exporter(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__`: `homes` says in which module of the package each public name lives."""

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
