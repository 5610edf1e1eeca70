from __future__ import annotations

import httpx
import pytest

from headrace.server.service import Service

PATHS = ["/", "/ready", "/api/pipelines", "/api/jobs", "/api/operators", "/api/openapi.json", "/nowhere"]
BEARER = {"Authorization": "Bearer the-token"}


def code(response: httpx.Response) -> object:
    return response.json()["code"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_but_health_is_open(stranger: httpx.Client, path: str) -> None:
    response = stranger.get(path)
    assert response.status_code == 401
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["www-authenticate"] == "Bearer"
    assert code(response) == "no_token"
    assert stranger.get("/health").json() == {"status": "ok"}


@pytest.mark.parametrize(
    "given",
    ["Bearer wrong", "Bearer", "Basic the-token", "the-token", "Bearer the-token2", "Bearer the-toke"],
)
def test_wrong_token_is_refused(stranger: httpx.Client, given: str) -> None:
    assert stranger.get("/api/jobs", headers={"Authorization": given}).status_code == 401


def test_right_token_is_let_in(stranger: httpx.Client) -> None:
    assert stranger.get("/api/jobs", headers=BEARER).json() == {"jobs": []}


def test_token_in_the_url_becomes_a_cookie_and_leaves_the_url(stranger: httpx.Client, port: int) -> None:
    response = stranger.get("/pipelines/a?token=the-token&tab=sql")
    assert (response.status_code, response.headers["location"]) == (303, "/pipelines/a?tab=sql")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"headrace_{port}=")
    assert "the-token" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert stranger.get("/api/jobs").status_code == 200, "the cookie is enough afterwards"


def test_wrong_token_in_the_url_sets_no_cookie(stranger: httpx.Client) -> None:
    response = stranger.get("/?token=wrong")
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


def test_cookie_of_another_server_on_this_machine_is_not_taken(stranger: httpx.Client) -> None:
    assert stranger.get("/api/jobs", headers={"Cookie": "headrace_1=the-token"}).status_code == 401


def test_token_in_the_url_cannot_change_anything(stranger: httpx.Client) -> None:
    assert stranger.post("/api/pipelines?token=the-token", json={}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:PORT.evil.example", ""]
)
@pytest.mark.parametrize("path", ["/health", "/api/jobs"])
def test_foreign_host_is_refused(client: httpx.Client, port: int, host: str, path: str) -> None:
    """DNS rebinding: the browser believes that evil.example is at 127.0.0.1."""
    response = client.get(path, headers={"Host": host.replace("PORT", str(port))})
    assert response.status_code == 421
    assert code(response) == "foreign_host"


def test_localhost_is_this_host(client: httpx.Client, port: int) -> None:
    assert client.get("/api/jobs", headers={"Host": f"localhost:{port}"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://127.0.0.1:1"])
def test_foreign_origin_is_refused(client: httpx.Client, port: int, origin: str) -> None:
    response = client.post("/api/pipelines/x/stop", headers={"Origin": origin.replace("PORT", str(port))})
    assert response.status_code == 403
    assert code(response) == "foreign_origin"


def test_own_origin_is_let_in(client: httpx.Client, port: int) -> None:
    assert client.get("/api/jobs", headers={"Origin": f"http://127.0.0.1:{port}"}).status_code == 200


def test_large_body_is_refused(client: httpx.Client) -> None:
    response = client.post("/api/pipelines", content=b'{"sql": "' + b"x" * 30_000 + b'"}')
    assert response.status_code == 413
    assert code(response) == "too_large"


def test_large_body_of_unknown_length_is_refused(client: httpx.Client) -> None:
    pieces = (b"x" * 1_000 for _ in range(100))
    response = client.post("/api/pipelines", content=pieces, headers={"Content-Type": "application/json"})
    assert response.status_code == 413


def test_too_many_event_streams(client: httpx.Client, service: Service) -> None:
    streams = [service.streams.open(None, None) for _ in range(2)]
    response = client.get("/api/events")
    assert response.status_code == 409
    assert "2 event streams are open" in response.json()["detail"]
    streams[0].close()
    service.streams.open(None, None).close()
    streams[1].close()
