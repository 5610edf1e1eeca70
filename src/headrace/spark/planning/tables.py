"""Tables in a pipeline: their topics, and where their rows may go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from headrace.credential import require_ordinary
from headrace.errors import InvalidInput
from headrace.graph.document import Document, Node
from headrace.wire.client import Client

# A version stays readable for as long as compaction lets superseded records be.
TABLE_TOPIC_CONFIG: Final = {"cleanup.policy": "compact", "min.compaction.lag.ms": str(3_600_000)}
TABLE: Final = "table"
LOOKUP: Final = "lookup-join"
# What may stand between a table and the join that looks rows up in it.
_STEPS: Final = ("filter", "select")


def create_tables(client: Client, nodes: Iterable[Node]) -> None:
    """The topics of tables that a pipeline reads are there afterwards."""
    topics = {str(node.config["topic"]) for node in nodes if node.operator == TABLE}
    if topics:
        _create_missing(client, topics)


def create_table_topics(bootstrap: str, topics: Iterable[str]) -> None:
    """The topics are there afterwards, compacted if they were not. Raises ExternalFailure."""
    with Client(bootstrap, client_id="headrace-tables") as client:
        _create_missing(client, set(topics))


def _create_missing(client: Client, topics: set[str]) -> None:
    missing = topics - client.metadata(topics).topics.keys()
    for topic in sorted(missing):
        require_ordinary(topic)
    if missing:
        client.create_topics(dict.fromkeys(missing, 1), TABLE_TOPIC_CONFIG, exist_ok=True)


def tables_and_their_steps(nodes: Iterable[Node], document: Document) -> frozenset[str]:
    """The tables among nodes, in their order, and what only tables feed."""
    beside: set[str] = set()
    for node in nodes:
        feeding = {edge.source for edge in document.inputs_of(node.id)}
        if node.operator == TABLE or (feeding and feeding <= beside):
            beside.add(node.id)
    return frozenset(beside)


def refuse_other_uses(document: Document, order: Iterable[str]) -> None:
    """Raises InvalidInput where the rows of a table go anywhere but into the right side of a lookup join."""
    beside = tables_and_their_steps((document.node(node_id) for node_id in order), document)
    for edge in document.edges:
        user = document.node(edge.target)
        is_lookup = user.operator == LOOKUP and edge.target_port == "right"
        if edge.source in beside and not is_lookup and user.operator not in _STEPS:
            hint = (
                "a table is looked up: lead it into the right side of a lookup-join; a topic source reads its changes"
            )
            raise InvalidInput(f"{user.operator} cannot take the rows of a table", node=user.id, hint=hint)
