"""Rows that take back what was emitted before: in a table they delete their key.

A session that a late row joins with another is retracted: its key and its bounds are emitted once more, with null
aggregates. A row in a table with nothing but its key would be counted as a session.
"""

from __future__ import annotations

from sqlglot import exp

from headrace.graph.document import Node
from headrace.operators import Catalogue
from headrace.operators.expressions import parse_expression
from headrace.operators.session_window import SessionWindowConfig
from headrace.operators.spec import OperatorConfig
from headrace.operators.table_sink import ToTableConfig


def retraction_columns(base: Node, catalogue: Catalogue) -> tuple[str, ...]:
    """Columns of a node whose rows are retractions where all of them are null; none where it retracts nothing.

    A count is never null in a session that holds. Without one, all aggregates must be null.
    """
    config = catalogue.get(base.operator).configure(base.config)
    if not isinstance(config, SessionWindowConfig) or (config.emit != "changes" and config.late != "update_previous"):
        return ()
    aggregates = [parse_expression(text) for text in config.aggregates]
    counts = [one.alias for one in aggregates if isinstance(one.tree, exp.Count) and one.alias is not None]
    return tuple(counts[:1]) or tuple(one.alias for one in aggregates if one.alias is not None)


def takes_retractions(config: OperatorConfig) -> bool:
    """Whether a sink can delete what it wrote before."""
    return isinstance(config, ToTableConfig) and config.mode == "upsert"
