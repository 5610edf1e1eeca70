"""Names of nodes that a document has not, and that are put in for rows that its nodes fail for."""

from __future__ import annotations

import hashlib
from typing import Final

# The newest failing rows of each node that are kept to look at.
ERRORS_KEPT: Final = 100
_ID_CHARACTERS: Final = 48


def errors_node(node: str) -> str:
    """The preview that has the newest rows which a node failed for, or could not read."""
    return made_node(node, "errors")


def made_node(node: str, what: str) -> str:
    if len(node) > _ID_CHARACTERS:
        # Ids have a limit, and long ones may begin alike.
        node = f"{node[: _ID_CHARACTERS - 8]}{hashlib.sha256(node.encode()).hexdigest()[:8]}"
    return f"{node}__{what}"
