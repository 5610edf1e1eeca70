"""Streams that a script reads and does not define: those of saved pipelines and known tables, as definitions."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.errors import Conflict, NotFound, did_you_mean
from headrace.graph import Document, Edge, Node
from headrace.operators import Catalogue
from headrace.operators.table_keys import key_setting
from headrace.sql import defined_names, print_sql
from headrace.tables import Table

_NAME = "elsewhere"


class KnownStreams:
    """What `documents` have under a name: sources and views, not sinks. `tables` can be asked."""

    def __init__(self, documents: Iterable[Document], tables: Iterable[Table], catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._tables = {table.name.lower(): table for table in tables}
        self._parts: dict[str, list[tuple[str, Document]]] = {}
        for document in documents:
            if any(node.operator not in catalogue for node in document.nodes):
                continue  # of a plugin that is broken now; the others can still be read
            for node in document.nodes:
                if catalogue.get(node.operator).spec.kind != "sink":
                    self._parts.setdefault(node.id.lower(), []).append((node.id, document))

    @property
    def names(self) -> list[str]:
        """Of streams, views and tables, without the steps between them."""
        documents = {document.name: document for parts in self._parts.values() for _, document in parts}
        streams = (name for document in documents.values() for name in defined_names(document, self._catalogue))
        known = (name for name in streams if name.lower() in self._parts)
        return sorted({*known, *(table.name for table in self._tables.values())})

    def is_table(self, name: str) -> bool:
        """Raises NotFound for a name that means nothing, Conflict for one that means several things."""
        if name.lower() in self._tables:
            return True
        self._part(name)
        return False

    def definitions(self, names: Iterable[str]) -> str:
        """Statements that define the names. Raises NotFound, and Conflict where two pipelines differ about one."""
        nodes: dict[str, Node] = {}
        edges: set[Edge] = set()
        for name in names:
            part = self._table(name) or self._part(name)
            for node in part.nodes:
                if nodes.setdefault(node.id, node) != node:
                    hint = "define it in the script itself"
                    raise Conflict(f"{node.id!r} means another thing in another pipeline", hint=hint)
            edges.update(part.edges)
        if not nodes:
            return ""
        return print_sql(Document(_NAME, tuple(nodes.values()), tuple(edges)), catalogue=self._catalogue)

    def _part(self, name: str) -> Document:
        if name.lower() not in self._parts:
            hint = did_you_mean(name, self.names) or "CREATE STREAM defines one; SHOW STREAMS lists those of pipelines"
            raise NotFound(f"no table, view or stream {name!r}", valid=self.names, hint=hint)
        found = [(document.name, document.leading_to([node])) for node, document in self._parts[name.lower()]]
        _, first = found[0]
        if any((set(part.nodes), set(part.edges)) != (set(first.nodes), set(first.edges)) for _, part in found[1:]):
            pipelines = ", ".join(pipeline for pipeline, _ in found)
            hint = "define it in the script itself"
            raise Conflict(f"{name!r} means different things in the pipelines {pipelines}", hint=hint)
        return first

    def _table(self, name: str) -> Document | None:
        table = self._tables.get(name.lower())
        if table is None:
            return None
        config = {"topic": table.topic, "schema": str(table.schema), "key": key_setting(list(table.keys))}
        return Document(_NAME, (Node(table.name, "table", {**config, "format": table.format.name}),))
