"""The HTTP API and the editor as one ASGI application, guarded."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

from headrace import __version__
from headrace.server import problems
from headrace.server.editor import install_editor
from headrace.server.models import ProblemDetails
from headrace.server.openapi import install_openapi
from headrace.server.rates import RequestRates
from headrace.server.routes_drafts import drafts_router
from headrace.server.routes_groups import groups_router
from headrace.server.routes_jobs import jobs_router
from headrace.server.routes_pipelines import pipelines_router
from headrace.server.routes_registry import registry_router
from headrace.server.routes_signals import signals_router
from headrace.server.routes_sql import sql_router
from headrace.server.routes_system import system_router
from headrace.server.routes_topics import topics_router
from headrace.server.security import Guard
from headrace.server.service import Service
from headrace.server.sessions import Sessions

ROUTERS = (
    system_router,
    pipelines_router,
    drafts_router,
    jobs_router,
    signals_router,
    topics_router,
    groups_router,
    registry_router,
    sql_router,
)


def create_app(service: Service, *, token: str, port: int) -> ASGIApp:
    """Serves the service to whoever has the token and asks for this very port of loopback."""
    app = create_api(service)
    install_editor(app)
    limits = service.settings.limits
    rates = RequestRates(limits.requests_per_second, limits.costly_requests_per_second)
    sessions = Sessions(service.settings.data_directory, token)
    return Guard(app, token=token, port=port, limits=limits, rates=rates, sessions=sessions)


def create_api(service: Service) -> FastAPI:
    """The API alone, open to whoever can call it."""
    app = FastAPI(
        title="Headrace",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
        responses={"default": {"model": ProblemDetails, "description": "What went wrong, where, and what is valid."}},
    )
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router(service))
    install_openapi(app)
    return app
