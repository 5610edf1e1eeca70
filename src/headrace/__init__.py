"""Headrace: a durable log that speaks Kafka, and pipelines on Spark.

`headrace.local()` runs everything for a script, a notebook or a test; `headrace.Pipeline` is a pipeline in every
notation; `headrace.errors` has all errors. On the command line: `headrace --help`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.embedded import Local as Local
    from headrace.embedded import local as local
    from headrace.pipeline import Pipeline as Pipeline

__all__ = ["Local", "Pipeline", "local"]

__version__ = "0.1.0"

_HOMES = {"Local": "headrace.embedded", "local": "headrace.embedded", "Pipeline": "headrace.pipeline"}


def __getattr__(name: str) -> object:
    """Loads a part when it is first named: `import headrace` alone stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
