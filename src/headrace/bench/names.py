"""Items and peers of a suite as they are asked for."""

from __future__ import annotations

from headrace.errors import InvalidInput, did_you_mean


def check_names(kind: str, names: tuple[str, ...], valid: tuple[str, ...]) -> None:
    """Raises InvalidInput for a name that is not valid, with near ones."""
    for name in names:
        if name not in valid:
            raise InvalidInput(f"no {kind} {name!r}", valid=valid, hint=did_you_mean(name, valid))
