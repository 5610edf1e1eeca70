"""The OpenAPI document: typed, and the same bytes every time. `python -m headrace.server.openapi` prints it."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from headrace.server.problems import MEDIA_TYPE

# FastAPI announces these for every route with a body; our validation errors are problem details like all others.
_UNUSED_SCHEMAS = ("HTTPValidationError", "ValidationError")
_EVENTS = "/api/events"


def install_openapi(app: FastAPI) -> None:
    """The document tells what the API really answers."""
    plain = app.openapi

    def told() -> dict[str, Any]:
        if app.openapi_schema is None:
            _correct(plain())
        return plain()

    app.openapi = told  # type: ignore[method-assign]  # FastAPI's own way to extend it


def document_text(app: FastAPI) -> str:
    return json.dumps(app.openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _correct(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for operation in item.values():
            responses = operation["responses"]
            responses.pop("422", None)
            responses["default"]["content"] = {MEDIA_TYPE: responses["default"]["content"]["application/json"]}
            if path == _EVENTS:
                content = responses["200"]["content"]
                responses["200"]["content"] = {"text/event-stream": content["application/json"]}
    for name in _UNUSED_SCHEMAS:
        document["components"]["schemas"].pop(name, None)


def main() -> None:
    """Prints the document of this version; needs neither Spark nor a broker."""
    from headrace.server.app import create_api  # noqa: PLC0415 - the app installs what is above
    from headrace.server.service import Service  # noqa: PLC0415
    from headrace.server.settings import ServerSettings  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as directory:
        service = Service(ServerSettings(Path(directory), "127.0.0.1:1", "none"))
        try:
            sys.stdout.write(document_text(create_api(service)))
        finally:
            service.close()


if __name__ == "__main__":
    main()
