"""Health, readiness, the operator catalogue, and the stream of events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from headrace.operators import describe
from headrace.server.events import EventStreamResponse
from headrace.server.service import Service


def system_router(service: Service) -> APIRouter:
    router = APIRouter()

    @router.get("/health")
    async def health() -> dict[str, str]:
        """The process answers; open to all."""
        return {"status": "ok"}

    @router.get("/ready")
    async def ready(response: Response) -> dict[str, bool]:
        """200 when Spark is up and wanted pipelines were started, 503 before."""
        response.status_code = 200 if service.is_ready else 503
        return {"ready": service.is_ready}

    @router.get("/api/operators")
    def operators() -> dict[str, Any]:
        return {"operators": service.catalogue.describe(), "problems": list(service.catalogue.plugin_problems)}

    @router.get("/api/operators/{name}")
    def operator(name: str) -> dict[str, Any]:
        return describe(service.catalogue.get(name))

    @router.get("/api/events", response_class=EventStreamResponse)
    async def events(
        pipeline: str | None = None, last_event_id: Annotated[str | None, Header()] = None
    ) -> EventStreamResponse:
        """Server-sent events of all pipelines or of one. With Last-Event-ID, those since then that are still kept."""
        return EventStreamResponse(service.streams.open(last_event_id, pipeline))

    return router
