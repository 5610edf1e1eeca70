"""Tables that can be asked at once: a copy of each, kept up from its topic."""

from headrace.tables.changes import Change
from headrace.tables.definition import Table, declared_in, tables_of
from headrace.tables.question import Answer
from headrace.tables.tables import Tables

__all__ = ["Answer", "Change", "Table", "Tables", "declared_in", "tables_of"]
