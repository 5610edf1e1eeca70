"""SQL ⇄ pipeline documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.sql.declarations import declared_streams, declared_tables, unread_views
    from headrace.sql.functions import SPARK_FUNCTIONS
    from headrace.sql.language import expand, is_complete, print_statement, read_annotations
    from headrace.sql.looking import LOOK, Look, Wanted, defined_names, read_look, read_wanted
    from headrace.sql.operations import (
        Ask,
        Create,
        Delete,
        Describe,
        Drop,
        Explain,
        InsertValues,
        PipelineAction,
        Request,
        Show,
        Update,
        read_requests,
    )
    from headrace.sql.sink_names import is_one_more, written_by
    from headrace.sql.to_graph import parse
    from headrace.sql.to_sql import print_sql

__all__ = [
    "LOOK",
    "SPARK_FUNCTIONS",
    "Ask",
    "Create",
    "Delete",
    "Describe",
    "Drop",
    "Explain",
    "InsertValues",
    "Look",
    "PipelineAction",
    "Request",
    "Show",
    "Update",
    "Wanted",
    "declared_streams",
    "declared_tables",
    "defined_names",
    "expand",
    "is_complete",
    "is_one_more",
    "parse",
    "print_sql",
    "print_statement",
    "read_annotations",
    "read_look",
    "read_requests",
    "read_wanted",
    "unread_views",
    "written_by",
]

# Who only asks a server, and wants to know that a statement is a question, must not load all operators.
_NAMES = {
    "declarations": ("declared_streams", "declared_tables", "unread_views"),
    "functions": ("SPARK_FUNCTIONS",),
    "language": ("expand", "is_complete", "print_statement", "read_annotations"),
    "looking": ("LOOK", "Look", "Wanted", "defined_names", "read_look", "read_wanted"),
    "operations": (
        *("Ask", "Create", "Delete", "Describe", "Drop", "Explain", "InsertValues", "PipelineAction"),
        *("Request", "Show", "Update", "read_requests"),
    ),
    "sink_names": ("is_one_more", "written_by"),
    "to_graph": ("parse",),
    "to_sql": ("print_sql",),
}
__getattr__ = exporter(__name__, {name: module for module, names in _NAMES.items() for name in names})
