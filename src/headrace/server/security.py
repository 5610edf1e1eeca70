"""Who may talk to the server: requests for this very host, from no foreign page, with the token, and not too large.

The API runs code, so loopback alone is not enough: any web page can make a browser send requests to 127.0.0.1, and by
DNS rebinding under the page's own name. Pages of other ports of this machine count as the same *site*, and get our
cookie sent: so what changes something needs the token in a header, or our own origin beside the cookie. The cookie is
a session and never the token, which only logs in.
"""

from __future__ import annotations

import hmac
from base64 import b64decode
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.server.headers import with_headers
from headrace.server.peers import Peer
from headrace.server.problems import problem
from headrace.server.rates import RequestRates
from headrace.server.sessions import Sessions
from headrace.server.settings import ServerLimits

# What clients of schema registries send is JSON under a name of its own; no page can send it without asking first.
JSON_TYPES: Final = ("application/json", "application/vnd.schemaregistry.v1+json")
OPEN_PATHS: Final = frozenset({"/health"})
# Answered also when the server has all the requests that it takes.
HEALTH_PATHS: Final = frozenset({"/health", "/ready"})
HOST_NAMES: Final = ("127.0.0.1", "localhost")
SAFE_METHODS: Final = ("GET", "HEAD")
# Paths that are no pages: a token in their URL is not taken, for URLs end up in logs and histories.
API_PATHS: Final = ("/api/", "/metrics", "/ready", "/health")
# With the cookie it ends this browser's session, with the token those of all browsers.
LOGOUT_PATH: Final = "/api/logout"
# Where the HTTP server keeps what it knows of a connection, among the state of a request.
PEER: Final = "peer"
_COOKIE_BYTES_MAX: Final = 8_192

_LOGIN_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Headrace</title>
<h1>This Headrace wants its token</h1>
<p>Open the address that <code>headrace up</code> printed: it ends in <code>/?token=…</code>. The token is also the
content of the file <code>token</code> in the data directory.</p></html>
"""


class Guard:
    """The outermost layer: nothing inside sees a request that is refused here."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        port: int,
        limits: ServerLimits,
        rates: RequestRates,
        sessions: Sessions,
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._sessions = sessions
        self._body_bytes_max = limits.body_bytes_max
        self._requests_max = limits.connections_max
        self._requests = 0
        self._rates = rates
        self._hosts = {f"{name}:{port}" for name in HOST_NAMES}
        self._origins = {f"http://{host}" for host in self._hosts}
        # Browsers share cookies between ports of a host: two servers must not share a name.
        self._cookie = f"headrace_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        self._requests += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self._requests -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        answer = (
            self._busy(scope)
            or self._foreign(scope, headers)
            or self._login(scope)
            or self._unwelcome(scope, headers)
            or self._logout(scope, headers)
        )
        if answer is not None:
            await answer(scope, receive, with_headers(send))
        else:
            await self._app(scope, self._limited(receive), self._until_logout(headers, scope, with_headers(send)))

    def _busy(self, scope: Scope) -> Response | None:
        if self._requests <= self._requests_max or scope["path"] in HEALTH_PATHS:
            return None
        response = problem(HTTPStatus.SERVICE_UNAVAILABLE, "busy", f"{self._requests_max} requests are being served")
        response.headers["Retry-After"] = "1"
        return response

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """A refusal for a host that is not ours, and for a page that is not ours."""
        if headers.get("host", "") not in self._hosts:
            valid = {"valid": sorted(self._hosts)}
            return problem(HTTPStatus.MISDIRECTED_REQUEST, "foreign_host", "this host name is not served here", valid)
        origin = headers.get("origin")
        is_foreign = origin is not None and origin not in self._origins
        if is_foreign or (_is_from_elsewhere(headers) and not _is_page_visit(scope, headers)):
            return problem(HTTPStatus.FORBIDDEN, "foreign_origin", "a page of another origin may not call this server")
        return None

    def _login(self, scope: Scope) -> Response | None:
        """A page opened with the token in its URL: a session begins, and the token is gone from the URL."""
        if scope["method"] != "GET" or _is_api(scope["path"]):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and self._is_token(value) for name, value in query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Never `//host`, which a browser would take for another server.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=HTTPStatus.SEE_OTHER)
        session_id = self._sessions.begin(_account(scope))
        response.set_cookie(self._cookie, session_id, path="/", httponly=True, samesite="strict")
        return response

    def _logout(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["method"] != "POST" or scope["path"] != LOGOUT_PATH:
            return None
        if self._is_token(_header_token(headers)):
            self._sessions.end_all()
        else:
            self._sessions.end(self._cookie_session(headers))
        response = Response(status_code=HTTPStatus.NO_CONTENT)
        response.delete_cookie(self._cookie, path="/", httponly=True, samesite="strict")
        return response

    def _until_logout(self, headers: Headers, scope: Scope, send: Send) -> Send:
        """A stream of events that a session opened ends with it."""
        if self._is_token(_header_token(headers)) or scope["path"] in OPEN_PATHS:
            return send
        session_id, account, is_over = self._cookie_session(headers), _account(scope), False

        async def sending(message: Message) -> None:
            nonlocal is_over
            if is_over:
                return
            if message.get("more_body") and not self._sessions.is_open(session_id, account):
                is_over = True
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        return sending

    def _unwelcome(self, scope: Scope, headers: Headers) -> Response | None:
        """A refusal for a request without token and session, of a wrong kind, too large, or one too many."""
        if scope["path"] in OPEN_PATHS:
            return None
        by_header = self._is_token(_header_token(headers))
        if not by_header and not self._sessions.is_open(self._cookie_session(headers), _account(scope)):
            return _no_token(scope, headers)
        changes = scope["method"] not in SAFE_METHODS
        if changes and not by_header and headers.get("origin") not in self._origins:
            return problem(HTTPStatus.FORBIDDEN, "no_origin", "a change with the cookie alone must name its origin")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._body_bytes_max:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", self._too_large)
        if changes and not _is_json_or_empty(headers):
            message = "the body must be JSON, with the header Content-Type: application/json"
            return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not_json", message, {"valid": ["application/json"]})
        return self._rates.refusal(scope["method"], scope["path"])

    def _is_token(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), self._token)

    def _cookie_session(self, headers: Headers) -> str:
        given = headers.get("cookie", "")
        try:
            morsel = SimpleCookie(given).get(self._cookie) if len(given) <= _COOKIE_BYTES_MAX else None
        except CookieError:
            return ""
        return morsel.value if morsel is not None else ""

    def _limited(self, receive: Receive) -> Receive:
        """A body without a length is counted as it comes."""
        received_bytes = 0

        async def receiving() -> Message:
            nonlocal received_bytes
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > self._body_bytes_max:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._too_large)
            return message

        return receiving

    @property
    def _too_large(self) -> str:
        return f"the body is larger than {self._body_bytes_max} bytes"


def _account(scope: Scope) -> int | None:
    peer: Peer | None = scope.get("state", {}).get(PEER)
    return None if peer is None else peer.account


def _is_api(path: str) -> bool:
    return path.startswith(API_PATHS)


def _is_from_elsewhere(headers: Headers) -> bool:
    """Browsers tell where a request comes from; programs do not, and have no cookie to be misused."""
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _is_page_visit(scope: Scope, headers: Headers) -> bool:
    """Following a link to us from anywhere is harmless: the answer goes to the user and not to that page."""
    is_top = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return is_top and scope["method"] == "GET" and not _is_api(scope["path"])


def _header_token(headers: Headers) -> str:
    """As a bearer token, or as the password of any user: clients of schema registries know no other way."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given
    if scheme.lower() != "basic":
        return ""
    try:
        return b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _is_json_or_empty(headers: Headers) -> bool:
    """A form or a plain text can be sent by any page without asking first; JSON cannot."""
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not has_body or kind in JSON_TYPES


def _no_token(scope: Scope, headers: Headers) -> Response:
    if not _is_api(scope["path"]) and "text/html" in headers.get("accept", ""):
        return HTMLResponse(_LOGIN_PAGE, status_code=HTTPStatus.UNAUTHORIZED)
    hint = {"hint": "send `Authorization: Bearer TOKEN`; `headrace up` prints the URL that holds the token"}
    response = problem(HTTPStatus.UNAUTHORIZED, "no_token", "the token is missing or wrong", hint)
    response.headers["WWW-Authenticate"] = "Bearer"
    return response
