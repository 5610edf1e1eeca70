from __future__ import annotations

from hypothesis import given

from headrace.graph import Document, canonical, validate
from headrace.graph.testing import documents
from headrace.operators import Catalogue

CATALOGUE = Catalogue()


@given(documents())
def test_random_documents_are_valid(document: Document) -> None:
    assert set(validate(document, CATALOGUE).order) == {node.id for node in document.nodes}


@given(documents())
def test_random_documents_are_canonical(document: Document) -> None:
    assert canonical(document, CATALOGUE) == document
