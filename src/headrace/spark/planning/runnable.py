"""The document that runs: as it was written, with what its policies, its places and its tables need put in."""

from __future__ import annotations

from headrace.graph.document import Document
from headrace.graph.validation import Validated, validate
from headrace.operators import Catalogue
from headrace.spark.planning.hoist import hoisted
from headrace.spark.planning.retractions import retracting
from headrace.spark.planning.row_errors import guarded


def runnable(document: Document, catalogue: Catalogue) -> Validated:
    """Raises InvalidGraph; and InvalidInput for a policy, or a table, that cannot be kept."""
    return retracting(hoisted(guarded(validate(document, catalogue), catalogue), catalogue), catalogue)
