"""Names that pipelines may have: they stand in paths, in topics and on command lines."""

from __future__ import annotations

import re
from typing import Final

from headrace.errors import InvalidInput

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def require_name(name: str) -> None:
    """Raises InvalidInput for a name that cannot stand in a path."""
    if not _NAME.fullmatch(name):
        valid = ["up to 100 letters, digits, '_', '-' and '.', not starting with '-' or '.'"]
        raise InvalidInput(f"{name[:120]!r} is no name for a pipeline", valid=valid)
