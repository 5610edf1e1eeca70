"""The OpenAPI document: typed, and the same bytes every time. `python -m headrace.server.openapi` prints it."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI

from headrace.server.problems import MEDIA_TYPE
from headrace.server.routes_registry import MEDIA_TYPE as REGISTRY_TYPE
from headrace.server.routes_registry import PREFIX as REGISTRY
from headrace.server.security import LOGOUT_PATH, OPEN_PATHS, SAFE_METHODS

# FastAPI announces these for every route with a body; our validation errors are problem details like all others.
_UNUSED_SCHEMAS: Final = ("HTTPValidationError", "ValidationError")
_EVENTS: Final = "/api/events"
_DESCRIPTION: Final = (
    "Every call but /health needs the token that `headrace up` prints, or the session of a browser that logged in "
    "with it. Errors are problem details (RFC 9457); those of the schema registry are a number and a sentence, as "
    "clients of schema registries read them."
)
_SECURITY: Final[dict[str, Any]] = {
    "token": {"type": "http", "scheme": "bearer", "description": "The token of the data directory."},
    "password": {"type": "http", "scheme": "basic", "description": "Any user, and the token as the password."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "headrace_8484",
        "description": "The session of a browser; the cookie ends in the server's port. What changes something must "
        "also come with the server's own Origin.",
    },
}
# Answers of the guard, which is before all routes.
_OF_GUARD: Final = {
    "401": "The token is missing or wrong.",
    "403": "A page of another origin calls, or a change with a session does not name its origin.",
    "421": "This host name is not served here.",
    "429": "Too many requests a second; Retry-After says how long to wait.",
}
_OF_TOKENS: Final = ("401", "429")
_OF_CHANGES: Final = {"413": "The body is too large.", "415": "The body is not JSON."}
_OF_ROUTES: Final = {
    "400": "The request is wrong: what, where, and what would be valid.",
    "404": "What the request names is not there.",
    "409": "It does not fit what is there now.",
    "503": "Spark, the broker or the server itself cannot answer now: why, and what is done about it.",
}
_OF_REGISTRY: Final = {**_OF_ROUTES, "409": "The schema is not compatible.", "422": "The request is wrong."}


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
    document["info"]["description"] = _DESCRIPTION
    document["security"] = [{name: []} for name in _SECURITY]
    document["paths"][LOGOUT_PATH] = {"post": _logout()}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            _correct_operation(path, method.upper(), operation)
    components = document["components"]
    components["securitySchemes"] = _SECURITY
    components["responses"] = _responses()
    for name in _UNUSED_SCHEMAS:
        components["schemas"].pop(name, None)


def _correct_operation(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    if path == _EVENTS:
        responses["200"]["content"] = {"text/event-stream": responses["200"]["content"]["application/json"]}
    if path in OPEN_PATHS:
        operation["security"] = []
    for status in _guard_statuses(path, method):
        responses[status] = {"$ref": f"#/components/responses/Problem{status}"}
    own = "Registry" if path.startswith(REGISTRY) else "Problem"
    for status in _route_statuses(path, method, operation):
        responses.setdefault(status, {"$ref": f"#/components/responses/{own}{status}"})
    responses["default"] = {"$ref": f"#/components/responses/{own}"}


def _guard_statuses(path: str, method: str) -> list[str]:
    found = [status for status in _OF_GUARD if path not in OPEN_PATHS or status not in _OF_TOKENS]
    return found if method in SAFE_METHODS else [*found, *_OF_CHANGES]


def _route_statuses(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    """Only a request that names or changes something can be wrong by itself."""
    if path in OPEN_PATHS:
        return []
    has_body = "requestBody" in operation
    names = has_body or any(parameter["in"] == "path" for parameter in operation.get("parameters", ()))
    takes = names or "parameters" in operation
    changes = method not in SAFE_METHODS and path != LOGOUT_PATH
    fitting = {"400": takes, "404": names or changes, "409": changes, "422": takes and path.startswith(REGISTRY)}
    return [status for status in _OF_REGISTRY if fitting.get(status, True)]


def _responses() -> dict[str, Any]:
    """Errors by their status, once for all operations; and any other, which is a defect."""
    other = "A defect of Headrace, or damaged data: what, and where to look."
    problem = {MEDIA_TYPE: _typed("ProblemDetails")}
    # A server that is too busy answers before the registry is asked.
    registry = {REGISTRY_TYPE: _typed("RegistryFailure"), **problem}
    found = {"Problem": (other, problem), "Registry": (other, registry)}
    found |= {f"Problem{status}": (said, problem) for status, said in (_OF_GUARD | _OF_CHANGES | _OF_ROUTES).items()}
    found |= {f"Registry{status}": (said, registry) for status, said in _OF_REGISTRY.items()}
    return {name: {"description": said, "content": content} for name, (said, content) in found.items()}


def _typed(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _logout() -> dict[str, Any]:
    """The guard answers it, so FastAPI knows nothing of it."""
    return {
        "operationId": "logout",
        "summary": "Logout",
        "description": "With the token: ends the sessions of all browsers. With a session: ends that one.",
        "tags": ["system"],
        "responses": {"204": {"description": "The session is over."}},
    }


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
