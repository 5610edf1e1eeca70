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


def test_every_answer_has_a_type_and_every_error_is_problem_details(service: Service) -> None:
    document = create_api(service).openapi()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            responses: dict[str, Any] = operation["responses"]
            assert "422" not in responses
            assert "application/problem+json" in responses["default"]["content"], (method, path)
            answers = [content for status, content in responses.items() if status.startswith("2")]
            assert answers, (method, path)
            for answer in answers:
                (content,) = answer["content"].values()
                assert {"$ref", "anyOf"} & content["schema"].keys(), (method, path)


def test_operations_have_names_of_their_own(service: Service) -> None:
    document = create_api(service).openapi()
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(names) == len(set(names))
