"""Functions on arrays that are compiled: once for a machine, and kept in a cache file beside their source."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """A decorator: the function, compiled when it is first called with arguments of these types.

    It may call compiled functions of its own file; of others only where their package calls `forget_outdated`.
    """
    import numba  # noqa: PLC0415 - takes a while: only where something is compiled

    try:
        return cast("_Function", numba.njit(cache=True)(function))
    except RuntimeError:
        # No place to keep the compiled code: this process compiles its own.
        return cast("_Function", numba.njit(function))


def is_kept(module: str, function: str) -> bool:
    """Whether the compiled code of a function is there, as of its source: then it is loaded in a moment.

    The module may be a package of several files.
    """
    sources = _sources(module)
    return any(_is_new(file, sources) for source in sources for file in _kept(source, function))


def forget_outdated(package: str) -> None:
    """For a package whose compiled functions call those of its other files: numba looks for changes only in the file of
    a function itself. Called before any of them is loaded."""
    sources = _sources(package)
    for file in (file for source in sources for file in _kept(source, "*")):
        if not _is_new(file, sources):
            file.unlink(missing_ok=True)


def _sources(module: str) -> list[Path]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return []
    source = Path(spec.origin)
    return list(source.parent.glob("*.py")) if spec.submodule_search_locations else [source]


def _kept(source: Path, function: str) -> list[Path]:
    return list((source.parent / "__pycache__").glob(f"{source.stem}.{function}-*.nbi"))


def _is_new(file: Path, sources: list[Path]) -> bool:
    return all(file.stat().st_mtime >= source.stat().st_mtime for source in sources)
