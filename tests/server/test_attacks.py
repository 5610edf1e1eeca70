"""What a hostile page, a hostile link and a hostile program try: each is refused, and nothing changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from headrace.server import problems
from headrace.server.app import create_api
from headrace.server.editor import install_editor
from headrace.server.rates import RequestRates
from headrace.server.service import Service

TEXT = 'topic t schema="v INT" ! preview'


@pytest.fixture
def victim(stranger: httpx.Client) -> httpx.Client:
    """A browser that is logged in: it has the cookie, and sends it wherever the browser would."""
    assert stranger.get("/?token=the-token").status_code == 303
    return stranger


def changing_calls(service: Service) -> Iterator[tuple[str, str]]:
    for path, item in create_api(service).openapi()["paths"].items():
        for method in item:
            if method != "get":
                yield method.upper(), path.replace("{", "").replace("}", "")


def test_no_change_is_possible_from_another_origin_or_without_one(victim: httpx.Client, service: Service) -> None:
    calls = list(changing_calls(service))
    assert len(calls) >= 15
    for method, path in calls:
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"):
            refused = victim.request(method, path, json={}, headers={"Origin": origin})
            assert (refused.status_code, refused.json()["code"]) == (403, "foreign_origin"), (method, path)
        refused = victim.request(method, path, json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "no_origin"), (method, path)
    assert service.pipelines() == ()


def test_the_own_page_may_change_things(victim: httpx.Client, port: int) -> None:
    own = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
    saved = victim.post("/api/pipelines", json={"text": TEXT, "name": "p"}, headers=own)
    assert saved.status_code == 201


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_form_or_a_plain_text_is_no_request(client: httpx.Client, service: Service, port: int, kind: str) -> None:
    body = b'{"text": "topic t schema=\\"v INT\\" ! preview", "name": "p"}'
    headers = {"Content-Type": kind, "Origin": f"http://127.0.0.1:{port}"}
    assert client.post("/api/pipelines", content=body, headers=headers).status_code == 415
    assert service.pipelines() == ()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/api/jobs", "/api/events", "/api/pipelines", "/metrics", "/assets/x.js"])
def test_a_foreign_page_cannot_read_by_script_or_image(victim: httpx.Client, site: str, path: str) -> None:
    """Another port of this machine is the same site: the browser sends our cookie along."""
    refused = victim.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
    assert refused.status_code == 403


def test_a_foreign_page_cannot_follow_events(victim: httpx.Client) -> None:
    refused = victim.get("/api/events", headers={"Origin": "http://evil.example", "Accept": "text/event-stream"})
    assert refused.status_code == 403


def test_a_link_from_elsewhere_opens_a_page_and_nothing_else(victim: httpx.Client) -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert victim.get("/", headers=visit).status_code in (200, 503)
    assert victim.get("/api/jobs", headers=visit).status_code == 403
    framed = {**visit, "Sec-Fetch-Dest": "iframe"}
    assert victim.get("/", headers=framed).status_code == 403


def test_a_token_in_the_url_opens_no_api(stranger: httpx.Client) -> None:
    for path in ("/api/jobs", "/metrics", "/ready"):
        assert stranger.get(f"{path}?token=the-token").status_code == 401


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "///evil.example/x", "/%5Cevil.example"])
def test_the_login_never_leads_to_another_server(stranger: httpx.Client, port: int, path: str) -> None:
    request = stranger.build_request("GET", f"http://127.0.0.1:{port}/")
    request.url = request.url.copy_with(raw_path=f"{path}?token=the-token".encode())
    target = stranger.send(request).headers.get("location", "/")
    assert target.startswith("/")
    assert not target.startswith(("//", "/\\"))


def test_a_person_without_the_token_is_told_where_it_is(stranger: httpx.Client) -> None:
    page = stranger.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert "headrace up" in page.text


@pytest.mark.parametrize("given", ["wr\u00f6ng", "\x00", "a" * 100_000, "the-token\u0000"])
def test_strange_tokens_are_only_wrong(client: httpx.Client, given: str) -> None:
    client.headers["Authorization"] = "Bearer x"
    value = f"Bearer {given}".encode("utf-8", "surrogateescape").replace(b"\x00", b"%00")
    try:
        response = client.get("/api/jobs", headers=httpx.Headers([(b"Authorization", value)]))
    except httpx.HTTPError:  # a header that no HTTP server takes
        return
    assert response.status_code in (400, 401, 431)


def test_every_answer_carries_the_safety_headers(client: httpx.Client, stranger: httpx.Client) -> None:
    for response in (client.get("/api/jobs"), client.get("/"), client.get("/api/none"), stranger.get("/nowhere")):
        policy = response.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in response.headers
    assert client.get("/api/jobs").headers["cache-control"] == "no-store"


def test_more_streams_than_allowed_are_refused_and_a_closed_one_makes_room(client: httpx.Client) -> None:
    with ExitStack() as open_streams:
        for _ in range(2):
            first = open_streams.enter_context(client.stream("GET", "/api/events"))
            assert first.status_code == 200
        assert client.get("/api/events").status_code == 409
    deadline_s = time.monotonic() + 20
    while _begin(client) != 200:
        assert time.monotonic() < deadline_s, "a closed stream makes room soon"
        time.sleep(0.05)


def _begin(client: httpx.Client) -> int:
    with client.stream("GET", "/api/events") as response:
        return response.status_code


NODE = b'{"document": {"name": "p", "nodes": [{"id": "%s", "operator": "x", "config": {"c": %s}}], "edges": []}}'


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "topic t ! preview", "name": "p", "note": "\\ud800"}',
        NODE % (b"\\ud800", b"1"),
        NODE % (b"a", b'"\\ud800"'),
        NODE % (b"a", b"NaN"),
        NODE % (b"a", b"1e999"),
    ],
)
@pytest.mark.parametrize("path", ["/api/pipelines", "/api/check"])
def test_half_characters_and_no_numbers_are_refused(client: httpx.Client, path: str, body: bytes) -> None:
    response = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text


HUGE = "9" * 5_000


@pytest.mark.parametrize(
    "path",
    [
        f"/api/pipelines/p?version={10**30}",
        f"/api/pipelines/p/diff?old={HUGE}&new=1",
        "/api/pipelines/p/diff?old=\u0661&new=1",
        f"/api/topics/t/messages?from=offset:{HUGE}",
        f"/api/jobs/p/events?limit={10**30}",
        f"/api/pipelines/{'x' * 5_000}/draft",
        "/api/pipelines/%00/draft",
        "/api/pipelines/..%2F..%2Fx/draft",
    ],
)
def test_absurd_requests_are_refused_and_no_defect(client: httpx.Client, path: str) -> None:
    assert client.post("/api/pipelines", json={"text": TEXT, "name": "p"}).status_code == 201
    response = client.get(path)
    assert response.status_code in (400, 404), response.text
    assert response.json()["code"] != "internal"


def test_requests_beyond_the_rate_are_put_off() -> None:
    now_s = [0.0]
    rates = RequestRates(10, 2, clock_s=lambda: now_s[0])
    answers = [rates.refusal("POST", "/api/check") for _ in range(6)]
    assert [answer is None for answer in answers] == [True] * 4 + [False] * 2
    refused = answers[-1]
    assert refused is not None
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert rates.refusal("GET", "/api/jobs") is None, "cheap requests have a rate of their own"
    now_s[0] += 1
    assert [rates.refusal("POST", "/api/jobs/x/sample") is None for _ in range(3)] == [True, True, False]
    for _ in range(30):
        last = rates.refusal("GET", "/api/jobs")
    assert last is not None


Get = Callable[[str], httpx.Response]


def getter(app: FastAPI) -> Get:
    """Asks the app itself, without a network."""

    async def ask(path: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://editor") as client:
            return await client.get(path)

    return lambda path: asyncio.run(ask(path))


@pytest.fixture
def get(tmp_path: Path) -> Get:
    """An editor of three files, with a secret beside its folder and a link to it inside."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<title>editor</title>")
    (static / "favicon.svg").write_text("<svg/>")
    (static / "assets" / "index-abc123.js").write_text("run()")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "assets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    app = FastAPI()
    problems.install(app)
    install_editor(app, static)
    return getter(app)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/....//secret.txt",
        "/assets/link.txt",
        "/assets//etc/passwd",
        "/assets/..\\..\\secret.txt",
        "/assets/index-abc123.js%00.txt",
    ],
)
def test_no_file_outside_the_folder_is_served(get: Get, path: str) -> None:
    assert "secret" not in get(path).text
    assert "root:" not in get(path).text


def test_the_editor_is_served_with_the_right_caching(get: Get) -> None:
    page = get("/pipelines/mine?tab=sql")
    assert (page.status_code, page.text) == (200, "<title>editor</title>")
    assert page.headers["cache-control"] == "no-cache"
    asset = get("/assets/index-abc123.js")
    assert "immutable" in asset.headers["cache-control"]
    assert asset.headers["content-type"].startswith("text/javascript")
    assert get("/favicon.svg").text == "<svg/>"
    assert get("/assets/none.js").status_code == 404
    assert get("/api/none").status_code == 404


def test_an_editor_that_is_not_built_says_how(tmp_path: Path) -> None:
    app = FastAPI()
    install_editor(app, tmp_path / "none")
    page = getter(app)("/")
    assert page.status_code == 503
    assert "npm run build" in page.text
