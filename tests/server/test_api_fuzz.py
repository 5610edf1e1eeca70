"""The API by its own description: whatever is sent to whichever route, the answer is one that the description names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.conftest import LIMITS

from headrace.server.app import create_api
from headrace.server.service import Service
from headrace.wire.testing import BrokerProcess

# Streams of events do not end.
ENDLESS = ("/api/events",)
TEXTS = (
    "",
    "t",
    "p",
    "topic",
    "filter",
    "a",
    "a/b",
    "no such",
    "\0",
    "ä" * 300,
    "-1",
    "0",
    "latest",
    "{}",
    "CREATE STREAM t",
    '"int"',
    '{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R"]}]}',
    'syntax = "proto3"; message A { A a = 1; }',
)
NUMBERS = (0, 1, -1, 7, 10**6, 2**31, 2**63, -(2**63), 2**64)
DEPTH_MAX = 4
EXAMPLES = 12
# How fast a busy machine makes an example says nothing.
UNHURRIED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data")
    broker.start()
    yield broker.bootstrap
    broker.stop()


scalars = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS) | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=3),
    max_leaves=6,
)


PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(TEXTS) | st.text(max_size=12),
    "integer": st.sampled_from(NUMBERS),
    "number": st.sampled_from(NUMBERS) | st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
}


class Described:
    """Requests as an OpenAPI document allows them, and sometimes as it does not."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def operations(self) -> list[tuple[str, str]]:
        paths = self._document["paths"].items()
        return [(method.upper(), path) for path, item in paths for method in item if path not in ENDLESS]

    def requests(self, method: str, path: str) -> st.SearchStrategy[dict[str, Any]]:
        operation = self._document["paths"][path][method.lower()]
        given_ = operation.get("parameters", ())
        parts = {
            place: st.fixed_dictionaries({p["name"]: self._values(p["schema"]) for p in given_ if p["in"] == place})
            for place in ("path", "query")
        }
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        json = st.just({}) if body is None else st.fixed_dictionaries({"json": self._values(body["schema"])})
        return st.builds(lambda *drawn: _request(method, path, *drawn), parts["path"], parts["query"], json)

    def _values(self, schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
        allowed = self._allowed(schema, depth)
        return st.integers(0, 9).flatmap(lambda chance: anything if chance == 0 else allowed)

    def _allowed(self, schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            return self._allowed(self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], depth)
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return st.one_of([self._allowed(one, depth) for one in schema[key]])
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum") or [schema["const"]])
        if schema.get("type") == "array":
            return st.lists(self._values(schema.get("items", {}), depth + 1), max_size=3 if depth < DEPTH_MAX else 0)
        return (
            self._objects(schema, depth) if schema.get("type") == "object" else PLAIN.get(schema.get("type"), anything)
        )

    def _objects(self, schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
        named, required, more = (schema.get(key, {}) for key in ("properties", "required", "additionalProperties"))
        if not named:
            inner = self._values(more, depth + 1) if isinstance(more, dict) and depth < DEPTH_MAX else anything
            return st.dictionaries(st.sampled_from(TEXTS), inner, max_size=3)
        made = {
            name: self._values(one, depth + 1) for name, one in named.items() if name in required or depth < DEPTH_MAX
        }
        return st.fixed_dictionaries(
            {name: one for name, one in made.items() if name in required},
            optional={name: one for name, one in made.items() if name not in required},
        )


def _request(
    method: str, path: str, places: dict[str, Any], query: dict[str, Any], body: dict[str, Any]
) -> dict[str, Any]:
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe="") or "_")
    params = {name: str(value) for name, value in query.items() if value is not None}
    return {"method": method, "url": path, "params": params, **body}


def documented(document: dict[str, Any], request: dict[str, Any], path: str, answer: httpx.Response) -> None:
    """The status is one that the operation names, and the body is what it says of it."""
    responses = document["paths"][path][request["method"].lower()]["responses"]
    assert str(answer.status_code) in responses, (request, answer.status_code, answer.text)
    response = responses[str(answer.status_code)]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    if "content" not in response:
        assert not answer.content
        return
    media = answer.headers["content-type"].partition(";")[0]
    assert media in response["content"], (request, media)
    if media.endswith("json"):
        schema = {**response["content"][media]["schema"], "components": document["components"]}
        jsonschema.validate(answer.json(), schema, cls=jsonschema.Draft202012Validator)


@pytest.mark.slow
def test_every_answer_is_one_that_the_description_names(client: httpx.Client, service: Service) -> None:
    document = create_api(service).openapi()
    client.post("/api/topics", json={"name": "t", "partitions": 2})
    for method, path in Described(document).operations():
        ask_all(client, document, method, path)


def ask_all(client: httpx.Client, document: dict[str, Any], method: str, path: str) -> None:
    @settings(UNHURRIED, max_examples=EXAMPLES, derandomize=True, database=None)
    @given(Described(document).requests(method, path))
    def ask(request: dict[str, Any]) -> None:
        answer = client.request(**request)
        # Spark is not up here, which is no defect: those answers say so.
        is_fine = answer.status_code < 500 or answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert is_fine, (request, answer.text)
        documented(document, request, path, answer)

    ask()


# What is refused for its body is refused before anybody reads it.
BODIES = {413: b"[]".ljust(LIMITS.body_bytes_max + 1), 415: b"{}"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/api/topics", {"Authorization": "Bearer wrong"}, 401),
        ("GET", "/api/registry/subjects", {"Authorization": ""}, 401),
        ("GET", "/metrics", {"Authorization": ""}, 401),
        ("GET", "/health", {"Host": "elsewhere:1"}, 421),
        ("GET", "/api/registry/subjects", {"Origin": "http://evil.example"}, 403),
        ("POST", "/api/topics", {"Content-Type": "application/json"}, 413),
        ("PUT", "/api/registry/config", {"Content-Type": "text/plain"}, 415),
        ("GET", "/metrics", {}, 200),
        ("GET", "/ready", {}, 503),
        ("POST", "/api/logout", {}, 204),
    ],
)
def test_refusals_of_the_guard_are_described(
    client: httpx.Client, service: Service, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = client.request(method, path, headers=headers, content=BODIES.get(status))
    assert answer.status_code == status
    documented(create_api(service).openapi(), {"method": method}, path, answer)


DANGLING = {
    "name": "p",
    "nodes": [{"id": "a", "operator": "topic", "config": {"topic": "t", "schema": "n INT"}}],
    "edges": [{"source": "a", "target": "gone"}],
}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("PATCH", "/api/topics/t", {"config": {"": "x"}}, 400, ""),
        ("PATCH", "/api/topics/t", {"config": {"retention.ms\0": "x"}}, 400, "no setting"),
        ("POST", "/api/topics/t/messages", {"value": "x", "partition": 99}, 404, "partition"),
        ("POST", "/api/topics/t/messages", {"value": "x", "partition": 2**40}, 400, "cannot be sent"),
        ("POST", "/api/check", {"document": DANGLING}, 200, ""),
        ("DELETE", "/api/pipelines/a%2Fb", None, 404, "a/b"),
    ],
)
def test_what_is_wrong_is_told_by_name(
    client: httpx.Client, method: str, path: str, body: dict[str, Any] | None, status: int, words: str
) -> None:
    client.post("/api/topics", json={"name": "t", "partitions": 2})
    answer = client.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert words in answer.text
