"""Pipelines and their versions: saved, listed, shown, compared, deleted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query, Response

from headrace.graph import validate
from headrace.server.bodies import PipelineBody, SaveBody
from headrace.server.notations import all_notations, read_pipeline
from headrace.server.service import Service


def pipelines_router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/api/pipelines")

    @router.post("", status_code=201)
    def save(body: SaveBody, response: Response) -> dict[str, Any]:
        """A new version; 200 and the latest one when it means the same as that."""
        saved = service.save(read_pipeline(body, service.catalogue), note=body.note, author=body.author)
        response.status_code = 201 if saved.is_new else 200
        return {"version": asdict(saved.version), "is_new": saved.is_new}

    @router.post("/validate")
    def check(body: PipelineBody) -> dict[str, Any]:
        """All notations of a pipeline that can run; 400 with every problem found otherwise. Nothing is saved."""
        document = read_pipeline(body, service.catalogue)
        validate(document, service.catalogue)
        return all_notations(document, service.catalogue)

    @router.get("")
    def listing() -> dict[str, Any]:
        states = {job.pipeline: job.state for job in service.jobs()}
        return {
            "pipelines": [
                {"name": info.name, "latest": asdict(info.latest), "state": states.get(info.name, "stopped")}
                for info in service.pipelines()
            ]
        }

    @router.get("/{name}")
    def show(name: str, version: int | None = Query(None, ge=1)) -> dict[str, Any]:
        """The latest version or a given one, in all notations."""
        found = service.version(name, version)
        return {"version": asdict(found.info), **all_notations(found.document, service.catalogue)}

    @router.get("/{name}/versions")
    def versions(name: str) -> dict[str, Any]:
        return {"versions": [asdict(info) for info in service.versions(name)]}

    @router.get("/{name}/diff")
    def diff(name: str, old: int = Query(ge=1), new: int = Query(ge=1)) -> dict[str, Any]:
        """What changed, one line per change."""
        found = service.compare(name, old, new)
        return {"old": old, "new": new, "changes": [str(change) for change in found.changes]}

    @router.delete("/{name}")
    def delete(name: str) -> dict[str, Any]:
        service.delete(name)
        return {"name": name, "deleted": True}

    return router
