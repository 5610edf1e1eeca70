"""Who may talk to the server: requests for this very host, from no foreign page, with the token, and not too large.

The API runs code, so loopback alone is not enough: any web page can make a browser send requests to 127.0.0.1, and by
DNS rebinding under the page's own name.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.server.problems import problem

OPEN_PATHS: Final = frozenset({"/health"})
HOST_NAMES: Final = ("127.0.0.1", "localhost")


class Guard:
    """The outermost layer: nothing inside sees a request that is refused here."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, body_bytes_max: int) -> None:
        self._app = app
        self._token = token.encode()
        self._body_bytes_max = body_bytes_max
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
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, self._limited(receive), self._with_cookie(scope, send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            valid = {"valid": sorted(self._hosts)}
            return problem(HTTPStatus.MISDIRECTED_REQUEST, "foreign_host", "this host name is not served here", valid)
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return problem(HTTPStatus.FORBIDDEN, "foreign_origin", "a page of another origin may not call this server")
        if scope["path"] not in OPEN_PATHS and not self._has_token(scope, headers):
            hint = {"hint": "send `Authorization: Bearer TOKEN`; `headrace up` prints the URL that holds the token"}
            response = problem(HTTPStatus.UNAUTHORIZED, "no_token", "the token is missing or wrong", hint)
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._body_bytes_max:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", self._too_large)
        return None

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        offered = [given if scheme.lower() == "bearer" else "", self._cookie_token(headers), self._url_token(scope)]
        return any(hmac.compare_digest(token.encode(), self._token) for token in offered)

    def _cookie_token(self, headers: Headers) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return morsel.value if morsel is not None else ""

    @staticmethod
    def _url_token(scope: Scope) -> str:
        """Only for opening a page: a link must not be able to change anything."""
        if scope["method"] != "GET":
            return ""
        query: bytes = scope["query_string"]
        return parse_qs(query.decode("latin-1")).get("token", [""])[0]

    def _with_cookie(self, scope: Scope, send: Send) -> Send:
        """A page opened with the token in its URL keeps it as a cookie that scripts cannot read."""
        token = self._url_token(scope)
        if not token or not hmac.compare_digest(token.encode(), self._token):
            return send
        cookie = f"{self._cookie}={quote(token)}; Path=/; HttpOnly; SameSite=Strict"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        return sending

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
