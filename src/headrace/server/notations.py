"""A pipeline from whichever notation it came in, and in all notations it can be shown in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph import Document, parse_text, print_text, to_python
from headrace.operators import Catalogue
from headrace.server.bodies import PipelineBody
from headrace.server.models.documents import Notations
from headrace.sql import parse, print_sql


def read_pipeline(body: PipelineBody, catalogue: Catalogue, name: str | None = None) -> Document:
    """`name` wins over any in the body. Raises InvalidSyntax with the place, InvalidInput for text without a name."""
    wanted = name or body.name
    if body.sql is not None:
        return parse(body.sql, wanted, catalogue=catalogue)
    if body.text is not None:
        if wanted is None:
            raise InvalidInput("a pipeline in text notation needs a name", hint="give it beside the text")
        return parse_text(body.text, catalogue, name=wanted)
    if body.document is None:
        raise InvalidInput("no pipeline was given", valid=["document", "sql", "text"])
    document = Document.from_dict(body.document.model_dump())
    return replace(document, name=wanted) if wanted is not None else document


def all_notations(document: Document, catalogue: Catalogue) -> Notations:
    """A notation that cannot say a pipeline is null, with the reason beside it."""
    printers: dict[str, Callable[[], str]] = {
        "sql": lambda: print_sql(document, catalogue=catalogue),
        "text": lambda: print_text(document, catalogue),
        "python": lambda: to_python(document),
    }
    printed: dict[str, str | None] = {}
    reasons: dict[str, str] = {}
    for name, printer in printers.items():
        try:
            printed[name] = printer()
        except HeadraceError as error:
            printed[name], reasons[name] = None, error.message
    return Notations(sql=printed["sql"], text=printed["text"], python=printed["python"], reasons=reasons)
