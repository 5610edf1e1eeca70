"""What a table is, apart from its rows: its topic, its key, its columns and how they are encoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from headrace.errors import HeadraceError
from headrace.formats import ValueFormat, with_schema
from headrace.graph.document import Document
from headrace.graph.schema import UNKNOWN, Schema
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.operators.arrow_types import column_types
from headrace.operators.table_keys import check_key
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.table_source import TableConfig
from headrace.operators.value_formats import value_format
from headrace.sql import declared_tables, is_one_more, written_by


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is that of the script which declares it; several names may mean one topic."""

    name: str
    topic: str
    keys: tuple[str, ...]
    schema: Schema
    format: ValueFormat

    @property
    def key(self) -> str:
        """In words."""
        return ", ".join(self.keys)

    @property
    def columns(self) -> pa.Schema:
        return column_types(self.schema)


def tables_of(document: Document, catalogue: Catalogue) -> Iterator[Table]:
    """The tables that a pipeline looks up or writes; none of one that cannot run."""
    try:
        validated = validate(document, catalogue)
    except HeadraceError:
        return
    found: list[Table] = []
    for node in document.nodes:
        table = _table_at(node.id, validated)
        if table is not None and not any(_is_again(table, other) for other in found):
            found.append(table)
    yield from found


def _table_at(node_id: str, validated: Validated) -> Table | None:
    config, schema = validated.configs[node_id], validated.schemas[node_id]
    if isinstance(config, TableConfig):
        return make_table(node_id, config, schema)
    if isinstance(config, ToTableConfig) and config.mode == "upsert" and _is_known(schema):
        return make_table(written_by(node_id), config, schema)
    return None


def _is_again(table: Table, other: Table) -> bool:
    """Whether it is but one more sink of a table."""
    return table.topic == other.topic and is_one_more(table.name, other.name)


def declared_in(sql: str, catalogue: Catalogue) -> Iterator[Table]:
    """The tables that a script declares. Raises InvalidSyntax, InvalidGraph, InvalidInput."""
    for node in declared_tables(sql, catalogue):
        operator = catalogue.get(node.operator)
        config: TableConfig = operator.configure(node.config)
        yield make_table(node.id, config, operator.output_schema(config, {}))


def _is_known(schema: Schema) -> bool:
    return all(column.type != UNKNOWN for column in schema)


def make_table(name: str, config: TableConfig | ToTableConfig, schema: Schema) -> Table:
    format_ = value_format(config)
    described = format_ if format_.registry is not None else with_schema(format_, column_types(schema))
    return Table(name, config.topic, check_key(schema, config.key), Schema(schema.columns), described)
