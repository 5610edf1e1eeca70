"""Document → SQL. For every valid document, `parse(print_sql(document)) == document`."""

from __future__ import annotations

from headrace.errors import InvalidGraph
from headrace.graph.document import Document
from headrace.graph.structure import cycles, structure_problems
from headrace.operators.catalogue import Catalogue
from headrace.sql.language.annotations import print_annotation
from headrace.sql.language.variables import escape
from headrace.sql.named_functions import with_names
from headrace.sql.printer import Printer
from headrace.sql.reading_order import in_reading_order


def print_sql(document: Document, *, catalogue: Catalogue | None = None) -> str:
    """A script that `parse` reads back. Raises InvalidGraph for a document with a cycle, which SQL cannot say."""
    known = catalogue or Catalogue()
    if any(cycles(document)):
        raise InvalidGraph(problem for problem in structure_problems(document, known) if problem.code == "cycle")
    statements = in_reading_order(Printer(document, known).statements(), document.edges)
    texts = [statement.text for statement in statements]
    script = with_names("\n\n".join([print_annotation("name", document.name), *texts]) + "\n")
    return escape(script)
