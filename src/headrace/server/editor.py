"""The built editor: its page for every path that is not the API's, its files by name, and a word when it is missing."""

from __future__ import annotations

import mimetypes
from html import escape
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

STATIC: Final = Path(__file__).parent / "static"
# Built files carry a hash of their content in their names.
ONE_YEAR: Final = "public, max-age=31536000, immutable"
ALWAYS_ASK: Final = "no-cache"
API_PREFIXES: Final = ("api", "metrics", "health", "ready", "docs")

_MISSING: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Headrace</title>
<h1>The editor is not built</h1>
<p>The API works; the editor's files are missing from <code>{place}</code>.</p>
<p>In a checkout, build them: <code>cd ui &amp;&amp; npm ci &amp;&amp; npm run build</code>, then load this page again.
A wheel of Headrace has them in it.</p></html>
"""


def install_editor(app: FastAPI, static: Path = STATIC) -> None:
    """Must come after every other route: it takes all GET paths that are left."""
    known = _Files(static)

    @app.get("/assets/{path:path}", include_in_schema=False)
    async def asset(path: str) -> Response:
        """404 for a file that the build did not make."""
        return known.file(f"assets/{path}", ONE_YEAR)

    @app.get("/{path:path}", include_in_schema=False)
    async def page(request: Request, path: str) -> Response:
        """A file of that name, else the editor's page: its router knows what the path means."""
        if path.split("/", 1)[0] in API_PREFIXES:
            raise HTTPException(404, f"no such resource: {request.url.path}")
        if path and path in known:
            return known.file(path, ALWAYS_ASK)
        return known.page()


class _Files:
    """Only files in the folder can be served: a name is looked up in a list of them, never made into a path."""

    def __init__(self, static: Path) -> None:
        self._static = static

    def __contains__(self, name: str) -> bool:
        return name in self._listed()

    def file(self, name: str, caching: str) -> Response:
        path = self._listed().get(name)
        if path is None:
            raise HTTPException(404, "no such file")
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, media_type=media_type, headers={"Cache-Control": caching})

    def page(self) -> Response:
        path = self._listed().get("index.html")
        headers = {"Cache-Control": ALWAYS_ASK}
        if path is None:
            text = _MISSING.format(place=escape("headrace/server/static"))
            return HTMLResponse(text, status_code=503, headers=headers)
        return FileResponse(path, media_type="text/html", headers=headers)

    def _listed(self) -> dict[str, Path]:
        """Read anew each time: a build may happen while the server runs. Links out of the folder do not count."""
        if not self._static.is_dir():
            return {}
        root = self._static.resolve()
        files = (path for path in root.rglob("*") if path.is_file() and path.resolve().is_relative_to(root))
        return {path.relative_to(root).as_posix(): path for path in files}
