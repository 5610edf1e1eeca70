"""Signals: sent, and listed."""

from __future__ import annotations

from fastapi import APIRouter, Query

from headrace.server.bodies import SignalBody
from headrace.server.models import SignalList, SignalView
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service

SIGNALS_MAX = 1_000


def signals_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api/signals", tags=["signals"])

    @router.post("")
    def send_signal(body: SignalBody) -> SignalView:
        """Answers when the signal is in its place; what becomes of it there is told by the job's events."""
        return service.signals.send(body)

    @router.get("")
    def list_signals(pipeline: str | None = None, limit: int = Query(100, ge=1, le=SIGNALS_MAX)) -> SignalList:
        """The newest, in the order of their places."""
        return service.signals.known(pipeline, limit)

    return router
