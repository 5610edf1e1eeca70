"""Functions on arrays that are compiled: once for a machine, and kept in a cache file beside their source."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """A decorator: the function, compiled when it is first called with arguments of these types."""
    import numba  # noqa: PLC0415 - takes a while: only where something is compiled

    try:
        return cast("_Function", numba.njit(cache=True)(function))
    except RuntimeError:
        # No place to keep the compiled code: this process compiles its own.
        return cast("_Function", numba.njit(function))


def is_kept(module: str, function: str) -> bool:
    """Whether the compiled code of a function is there, as of its source: then it is loaded in a moment."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return False
    source = Path(spec.origin)
    kept = (source.parent / "__pycache__").glob(f"{source.stem}.{function}-*.nbi")
    return any(file.stat().st_mtime >= source.stat().st_mtime for file in kept)
