"""The HTTP API as one ASGI application, guarded."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

from headrace import __version__
from headrace.server import problems
from headrace.server.routes_jobs import jobs_router
from headrace.server.routes_pipelines import pipelines_router
from headrace.server.routes_system import system_router
from headrace.server.security import Guard
from headrace.server.service import Service


def create_app(service: Service, *, token: str, port: int) -> ASGIApp:
    """Serves the service to whoever has the token and asks for this very port of loopback."""
    app = FastAPI(title="Headrace", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    problems.install(app)
    app.include_router(system_router(service))
    app.include_router(pipelines_router(service))
    app.include_router(jobs_router(service))
    return Guard(app, token=token, port=port, body_bytes_max=service.settings.limits.body_bytes_max)
