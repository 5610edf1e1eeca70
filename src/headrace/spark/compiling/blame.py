"""Whose fault it is when Spark cannot plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph.document import Node


@contextmanager
def blaming(node: Node) -> Iterator[None]:
    """Spark's complaint about a node's expressions, as an error that names the node."""
    from pyspark.errors import AnalysisException, ParseException  # noqa: PLC0415

    try:
        yield
    except (AnalysisException, ParseException) as error:
        raise InvalidInput(str(error).split("\n", 1)[0], node=node.id) from error
    except HeadraceError as error:
        error.node = error.node or node.id
        raise
