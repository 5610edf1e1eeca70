"""SQL ⇄ pipeline documents."""

from headrace.sql.functions import SPARK_FUNCTIONS
from headrace.sql.language import expand, print_statement, read_annotations
from headrace.sql.operations import Describe, Explain, PipelineAction, Request, Show, read_requests
from headrace.sql.to_graph import parse
from headrace.sql.to_sql import print_sql

__all__ = [
    "SPARK_FUNCTIONS",
    "Describe",
    "Explain",
    "PipelineAction",
    "Request",
    "Show",
    "expand",
    "parse",
    "print_sql",
    "print_statement",
    "read_annotations",
    "read_requests",
]
