"""SQL ⇄ pipeline documents."""

from headrace.sql.declarations import declared_streams, declared_tables
from headrace.sql.functions import SPARK_FUNCTIONS
from headrace.sql.language import expand, print_statement, read_annotations
from headrace.sql.looking import LOOK, Look, Wanted, read_look, read_wanted
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
    "expand",
    "parse",
    "print_sql",
    "print_statement",
    "read_annotations",
    "read_look",
    "read_requests",
    "read_wanted",
]
