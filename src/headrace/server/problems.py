"""Errors as problem details (RFC 9457): what went wrong, where, and what would be right."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from headrace.causes import known_cause
from headrace.errors import Conflict, CorruptData, ExternalFailure, HeadraceError, InvalidInput, NotFound

MEDIA_TYPE: Final = "application/problem+json"

# The first that fits counts: narrow ones first.
_STATUSES: Final[tuple[tuple[type[HeadraceError], HTTPStatus], ...]] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (InvalidInput, HTTPStatus.BAD_REQUEST),
    (ExternalFailure, HTTPStatus.SERVICE_UNAVAILABLE),
    (CorruptData, HTTPStatus.INTERNAL_SERVER_ERROR),
)

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Every error of the app leaves it as problem details."""
    app.add_exception_handler(HeadraceError, _headrace_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


def problem(status: HTTPStatus, code: str, message: str, fields: Mapping[str, object] | None = None) -> JSONResponse:
    body = {
        "type": f"urn:headrace:error:{code}",
        "title": status.phrase,
        "status": int(status),
        "detail": message,
        "code": code,
        "message": message,
        **(fields or {}),
    }
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE)


def status_of(error: HeadraceError) -> HTTPStatus:
    fitting = (status for kind, status in _STATUSES if isinstance(error, kind))
    return next(fitting, HTTPStatus.INTERNAL_SERVER_ERROR)


async def _headrace_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HeadraceError):
        return await _unexpected(request, error)
    return problem(status_of(error), error.code, error.message, error.to_dict())


async def _invalid_request(request: Request, error: Exception) -> JSONResponse:
    """The first wrong field, in words."""
    if not isinstance(error, RequestValidationError):
        return await _unexpected(request, error)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problem(HTTPStatus.BAD_REQUEST, InvalidInput.code, f"{where}: {first['msg']}", {"domain": "user"})


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        return await _unexpected(request, error)
    status = HTTPStatus(error.status_code)
    return problem(status, status.name.lower(), str(error.detail), {"domain": "user"})


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """What the machine or Spark raised has a name; all else is a defect: the log has the whole of it, the client the
    kind of it."""
    known = known_cause(error)
    if known is not None:
        _log.warning("%s %s: %s", request.method, request.url.path, known.message, exc_info=error)
        return await _headrace_error(request, known)
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = f"a defect of Headrace ({type(error).__name__}); the server's log shows where: please report it"
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", message, {"domain": "internal"})
