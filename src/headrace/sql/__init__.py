"""SQL ⇄ pipeline documents."""

from headrace.sql.language.annotations import read_annotations
from headrace.sql.operations import Request, read_requests
from headrace.sql.to_graph import parse
from headrace.sql.to_sql import print_sql

__all__ = ["Request", "parse", "print_sql", "read_annotations", "read_requests"]
