"""A pipeline from whichever notation it came in, and in all notations it can be shown in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph import Document, parse_text, print_text, to_python
from headrace.operators import Catalogue
from headrace.server.bodies import PipelineBody
from headrace.sql import parse, print_sql


def read_pipeline(body: PipelineBody, catalogue: Catalogue) -> Document:
    """Raises InvalidSyntax with the place, InvalidInput for a document that is none or text without a name."""
    if body.sql is not None:
        return parse(body.sql, body.name, catalogue=catalogue)
    if body.text is not None:
        if body.name is None:
            raise InvalidInput("a pipeline in text notation needs a name", hint="give it beside the text")
        return parse_text(body.text, catalogue, name=body.name)
    document = Document.from_dict(body.document or {})
    return replace(document, name=body.name) if body.name is not None else document


def all_notations(document: Document, catalogue: Catalogue) -> dict[str, Any]:
    """A notation that cannot say a pipeline is null."""
    return {
        "document": document.to_dict(),
        "sql": _or_none(lambda: print_sql(document, catalogue=catalogue)),
        "text": _or_none(lambda: print_text(document, catalogue)),
        "python": _or_none(lambda: to_python(document)),
    }


def _or_none(printed: Callable[[], str]) -> str | None:
    try:
        return printed()
    except HeadraceError:
        return None
