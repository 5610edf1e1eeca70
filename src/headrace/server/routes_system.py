"""Health, readiness, the operator catalogue, and the stream of events."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from headrace.server.docs import docs_page
from headrace.server.events import EventStreamResponse
from headrace.server.models import JobEvent, MetricsTick, OperatorList, OperatorView
from headrace.server.models.base import Model
from headrace.server.prometheus import PrometheusText
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service
from headrace.server.views import operator_view


class HealthView(Model):
    status: Literal["ok"]


class ReadyView(Model):
    """`reason`: why not; `notices`: what is wrong with the machine or with Spark now."""

    ready: bool
    reason: str | None
    notices: list[str]


def system_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, tags=["system"])
    prometheus = PrometheusText(service)

    @router.get("/health")
    async def health() -> HealthView:
        """The process answers; open to all."""
        return HealthView(status="ok")

    @router.get("/ready", responses={503: {"model": ReadyView, "description": "Not yet, or not now."}})
    async def ready(response: Response) -> ReadyView:
        """200 while Spark is up, else 503. Wanted pipelines start after that, one after another."""
        reason = service.not_ready
        response.status_code = 200 if reason is None else 503
        notices = [notice.message for notice in service.notices.current]
        return ReadyView(ready=reason is None, reason=reason, notices=notices)

    @router.get("/metrics", response_class=PlainTextResponse)
    def metrics() -> Response:
        """Prometheus' text format."""
        return Response(prometheus.text(), media_type=CONTENT_TYPE_LATEST)

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(docs_page(request.app.openapi()))

    @router.get("/api/operators")
    def list_operators() -> OperatorList:
        operators = [operator_view(operator) for operator in service.catalogue]
        return OperatorList(operators=operators, problems=list(service.catalogue.plugin_problems))

    @router.get("/api/operators/{name}")
    def show_operator(name: str) -> OperatorView:
        return operator_view(service.catalogue.get(name))

    @router.get(
        "/api/events",
        status_code=200,
        response_class=EventStreamResponse,
        responses={200: {"model": JobEvent | MetricsTick, "description": "Server-sent events; see the summary."}},
    )
    async def follow_events(
        pipeline: str | None = None, last_event_id: Annotated[str | None, Header()] = None
    ) -> EventStreamResponse:
        """Server-sent events of all pipelines or of one. With Last-Event-ID, those since then that are still kept.

        Events named `metrics` hold a MetricsTick and have no id, `missed` says how many were lost to a slow reader;
        all others are named by their kind and hold a JobEvent.
        """
        return EventStreamResponse(service.streams.open(last_event_id, pipeline))

    return router
