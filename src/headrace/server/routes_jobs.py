"""Running pipelines: started, stopped, looked at; and runs over a range."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query

from headrace.server.bodies import BatchBody, StartBody
from headrace.server.notations import read_pipeline
from headrace.server.service import Service


def jobs_router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/api")
    rows_max = service.settings.limits.preview_rows_max

    @router.post("/pipelines/{name}/start")
    def start(name: str, body: StartBody | None = None) -> dict[str, Any]:
        """Runs now and after every restart of the server, until stopped."""
        wanted = body or StartBody()
        return asdict(service.start(name, wanted.version, reset=wanted.reset))

    @router.post("/pipelines/{name}/stop")
    def stop(name: str) -> dict[str, Any]:
        return asdict(service.stop(name))

    @router.get("/jobs")
    def jobs() -> dict[str, Any]:
        return {"jobs": [asdict(job) for job in service.jobs()]}

    @router.get("/jobs/{name}")
    def job(name: str) -> dict[str, Any]:
        return asdict(service.job(name))

    @router.get("/jobs/{name}/preview/{node}")
    def preview(name: str, node: str, limit: int = Query(100, ge=1, le=rows_max)) -> dict[str, Any]:
        """The newest rows of a preview node, the newest last."""
        return {"rows": [json.loads(row) for row in service.preview(name, node, limit)]}

    @router.post("/batch")
    def batch(body: BatchBody) -> dict[str, Any]:
        """Runs a pipeline once over a range; answers when it is done."""
        document = read_pipeline(body, service.catalogue)
        return {"pipeline": document.name, **asdict(service.run_batch(document, body.start, body.end))}

    return router
