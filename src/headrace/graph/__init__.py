"""The pipeline document and everything that is said about it without running it."""

from headrace.graph.catalogue import OperatorCatalogue
from headrace.graph.document import Config, Document, Edge, Json, Node
from headrace.graph.schema import UNKNOWN, Column, Schema
from headrace.graph.text import parse_text, print_text
from headrace.graph.validation import Validated, canonical, validate

__all__ = [
    "UNKNOWN",
    "Column",
    "Config",
    "Document",
    "Edge",
    "Json",
    "Node",
    "OperatorCatalogue",
    "Schema",
    "Validated",
    "canonical",
    "parse_text",
    "print_text",
    "validate",
]
