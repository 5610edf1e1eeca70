"""The embedded schema registry: schemas by subject and version, kept in the log."""

from headrace.registry.compatibility import LEVELS
from headrace.registry.journal import Journal, TopicJournal
from headrace.registry.registry import Registry
from headrace.registry.schemas import KINDS, Reference, Schema, SchemaKind, Schemas, parsed, referenced
from headrace.registry.state import TOPIC, Entry, State

__all__ = [
    "KINDS",
    "LEVELS",
    "TOPIC",
    "Entry",
    "Journal",
    "Reference",
    "Registry",
    "Schema",
    "SchemaKind",
    "Schemas",
    "State",
    "TopicJournal",
    "parsed",
    "referenced",
]
