from __future__ import annotations

from pathlib import Path
from typing import Any

from headrace.server.app import create_api
from headrace.server.openapi import document_text
from headrace.server.service import Service

COMMITTED = Path(__file__).parents[2] / "ui" / "openapi.json"


def test_committed_document_is_that_of_this_code(service: Service) -> None:
    """Stale? `python -m headrace.server.openapi > ui/openapi.json`, then the editor's types: `npm run types`."""
    assert COMMITTED.read_text() == document_text(create_api(service))


# A registered schema is whatever its text is; ending a session answers nothing.
UNTYPED = ("/schema", "/api/logout")
PROBLEM, NUMBERED = "application/problem+json", "application/vnd.schemaregistry.v1+json"


def test_every_answer_has_a_type_and_every_error_too(service: Service) -> None:
    document = create_api(service).openapi()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            answers = [content for status, content in operation["responses"].items() if status.startswith("2")]
            assert answers, (method, path)
            for answer in answers if not path.endswith(UNTYPED) else ():
                (content,) = answer["content"].values()
                assert {"$ref", "anyOf", "type"} & content["schema"].keys(), (method, path)
            for status, response in operation["responses"].items():
                if not status.startswith("2"):
                    is_registry = path.startswith("/api/registry")
                    assert media_types(document, response) <= {PROBLEM, *((NUMBERED,) if is_registry else ())} or (
                        (path, status) == ("/ready", "503")
                    )


def media_types(document: dict[str, Any], response: dict[str, Any]) -> set[str]:
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return set(response["content"])


def test_the_registry_metrics_and_security_are_described(service: Service) -> None:
    document = create_api(service).openapi()
    assert document["paths"]["/metrics"]["get"]["responses"]["200"]["content"].keys() == {"text/plain"}
    register = document["paths"]["/api/registry/subjects/{subject}/versions"]["post"]
    assert {"200", "401", "404", "409", "413", "415", "422", "429", "503"} <= register["responses"].keys()
    assert document["security"] == [{"token": []}, {"password": []}, {"session": []}]
    assert document["components"]["securitySchemes"].keys() == {"token", "password", "session"}
    is_open = [path for path, item in document["paths"].items() if item.get("get", {}).get("security") == []]
    assert is_open == ["/health"]


def test_operations_have_names_of_their_own(service: Service) -> None:
    document = create_api(service).openapi()
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(names) == len(set(names))
