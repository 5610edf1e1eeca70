"""Names in paths may hold a slash, which clients write as %2F: it is part of the name, and no part of the path."""

from __future__ import annotations

from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope


class RawPathRoute(APIRoute):
    """Matches the path as it came, and only then decodes the names in it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        raw = scope.get("raw_path")
        if raw is None:
            return super().matches(scope)
        match, found = super().matches({**scope, "path": raw.decode("ascii", "replace")})
        parameters = found.get("path_params", {})
        named = {name: unquote(value) if isinstance(value, str) else value for name, value in parameters.items()}
        return match, {**found, "path_params": named} if parameters else found
