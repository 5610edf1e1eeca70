"""The pipeline document and everything that is said about it without running it."""

from headrace.graph.builder import Builder, Sink, Stream
from headrace.graph.catalogue import OperatorCatalogue
from headrace.graph.diff import Diff, compare
from headrace.graph.document import Config, Document, Edge, Json, Node
from headrace.graph.drafts import NO_REVISION, Draft, DraftConflict, DraftStore
from headrace.graph.layout import Layout
from headrace.graph.python import to_python
from headrace.graph.schema import UNKNOWN, Column, Schema
from headrace.graph.store import PipelineInfo, Saved, Store, Version, VersionInfo
from headrace.graph.text import parse_text, print_text
from headrace.graph.validation import Inspection, Validated, canonical, inspect, validate

__all__ = [
    "NO_REVISION",
    "UNKNOWN",
    "Builder",
    "Column",
    "Config",
    "Diff",
    "Document",
    "Draft",
    "DraftConflict",
    "DraftStore",
    "Edge",
    "Inspection",
    "Json",
    "Layout",
    "Node",
    "OperatorCatalogue",
    "PipelineInfo",
    "Saved",
    "Schema",
    "Sink",
    "Store",
    "Stream",
    "Validated",
    "Version",
    "VersionInfo",
    "canonical",
    "compare",
    "inspect",
    "parse_text",
    "print_text",
    "to_python",
    "validate",
]
