"""The language: text ⇄ typed tree. Knows nothing of graphs; every part has its place in the script."""

from headrace.sql.language.annotations import print_annotation, read_annotations
from headrace.sql.language.parser import is_complete, read_entries, read_rewritten, read_statements
from headrace.sql.language.print_statements import print_entries, print_statement
from headrace.sql.language.variables import expand

__all__ = [
    "expand",
    "is_complete",
    "print_annotation",
    "print_entries",
    "print_statement",
    "read_annotations",
    "read_entries",
    "read_rewritten",
    "read_statements",
]
