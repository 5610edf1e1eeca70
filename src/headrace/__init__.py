"""Headrace: a durable log that speaks Kafka, and pipelines on Spark.

`headrace.local()` runs everything for a script, a notebook or a test; `headrace.Pipeline` is a pipeline in every
notation; `headrace.errors` has all errors. On the command line: `headrace --help`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.embedded import Local, local
    from headrace.pipeline import Pipeline

__all__ = ["Local", "Pipeline", "local"]

__version__ = "0.1.0"

__getattr__ = exporter(__name__, {"Local": "embedded", "local": "embedded", "Pipeline": "pipeline"})


def __dir__() -> list[str]:
    """Names that are loaded when first used are there to be completed too."""
    return sorted({*globals(), *__all__})
