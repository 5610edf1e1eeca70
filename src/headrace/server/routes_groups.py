"""Consumer groups: listed, described, moved."""

from __future__ import annotations

from fastapi import APIRouter

from headrace.server.bodies import ResetBody
from headrace.server.models import GroupList, GroupView, ResetView
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service


def groups_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api/groups", tags=["groups"])

    @router.get("")
    def list_groups() -> GroupList:
        return service.groups.overview()

    @router.get("/{group}")
    def show_group(group: str) -> GroupView:
        return service.groups.describe(group)

    @router.post("/{group}/reset")
    def reset_group(group: str, body: ResetBody) -> ResetView:
        """Old and new offsets; with `dry_run` nothing is changed. 409 while the group has members."""
        return service.groups.reset(group, body.topic, body.to, dry_run=body.dry_run)

    return router
