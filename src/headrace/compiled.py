"""Functions on arrays that are compiled: once for a machine, and kept in a cache file beside their source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """A decorator: the function, compiled when it is first called with arguments of these types."""
    try:
        return cast("_Function", numba.njit(cache=True)(function))
    except RuntimeError:
        # No place to keep the compiled code: this process compiles its own.
        return cast("_Function", numba.njit(function))
