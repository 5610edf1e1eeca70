"""What a topic may be called: Kafka's rule."""

from __future__ import annotations

import re
from typing import Final

from headrace.errors import InvalidInput

NAME_CHARACTERS_MAX: Final = 249
_NAME: Final = re.compile(rf"[a-zA-Z0-9._-]{{1,{NAME_CHARACTERS_MAX}}}")


def require_topic_name(name: str) -> str:
    """The name. Raises InvalidInput unless Kafka would take it."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        valid = f"1 to {NAME_CHARACTERS_MAX} letters, digits, '.', '_' and '-'"
        raise InvalidInput(f"{name!r} is no topic name", valid=[valid])
    return name
