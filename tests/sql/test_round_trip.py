"""Whatever a document says, SQL says it too: printed and read back it is the same document."""

from __future__ import annotations

from hypothesis import given, settings

from headrace.graph.document import Document
from headrace.graph.testing import documents
from headrace.sql import parse, print_sql


@given(documents())
@settings(max_examples=300, deadline=None)
def test_every_document_survives(document: Document) -> None:
    assert parse(print_sql(document)) == document
