"""Running pipelines: started, stopped, looked at; and runs over a range."""

from __future__ import annotations

import json
from dataclasses import asdict

from fastapi import APIRouter, Query

from headrace.server.bodies import BatchBody, RunBody, SampleBody, StartBody, TestRunBody
from headrace.server.models import (
    BatchView,
    EventList,
    JobEvent,
    JobList,
    JobView,
    RowErrorList,
    RowsView,
    RunView,
    SampleView,
    TestRunView,
)
from headrace.server.notations import read_pipeline
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service
from headrace.server.views import row_error, version_info
from headrace.spark.planning.error_nodes import ERRORS_KEPT

EVENTS_MAX = 1_000
# Of a pipeline in text notation, which needs some name.
TEST_RUN = "test-run"


def jobs_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api", tags=["jobs"])
    rows_max = service.settings.limits.preview_rows_max

    @router.post("/pipelines/{name}/start")
    def start_pipeline(name: str, body: StartBody | None = None) -> JobView:
        """Runs now and after every restart of the server, until stopped."""
        wanted = body or StartBody()
        return service.job_view(service.start(name, wanted.version, wanted.choice))

    @router.post("/run")
    def run_pipeline(body: RunBody) -> RunView:
        """The pipeline becomes a version and runs instead of the one that runs now. What is refused is not saved, and
        stops nothing."""
        document = read_pipeline(body, service.catalogue)
        version, status = service.run(document, note=body.note, author=body.author, choice=body.choice)
        return RunView(version=version_info(version), job=service.job_view(status))

    @router.post("/pipelines/{name}/stop")
    def stop_pipeline(name: str) -> JobView:
        return service.job_view(service.stop(name))

    @router.get("/jobs")
    def list_jobs() -> JobList:
        return JobList(jobs=[service.job_view(job) for job in service.jobs()])

    @router.get("/jobs/{name}")
    def show_job(name: str) -> JobView:
        return service.job_view(service.job(name))

    @router.get("/jobs/{name}/events")
    def list_events(name: str, limit: int = Query(100, ge=1, le=EVENTS_MAX)) -> EventList:
        """The newest events of a pipeline that are still kept, oldest first."""
        return EventList(events=[JobEvent.model_validate(event) for event in service.job_events(name, limit)])

    @router.get("/jobs/{name}/preview/{node}")
    def preview_node(name: str, node: str, limit: int = Query(100, ge=1, le=rows_max)) -> RowsView:
        """The newest rows of a preview node, the newest last."""
        return RowsView(rows=[json.loads(row) for row in service.preview(name, node, limit)])

    @router.get("/jobs/{name}/errors/{node}")
    def newest_errors(name: str, node: str, limit: int = Query(ERRORS_KEPT, ge=1, le=ERRORS_KEPT)) -> RowErrorList:
        """The newest rows that an expression of the node failed for, or records that a source could not read, the
        newest last. A restart begins with none."""
        found = (json.loads(row) for row in service.errors(name, node, limit))
        return RowErrorList(rows=[row_error(node, row) for row in found])

    @router.post("/jobs/{name}/sample")
    def sample_edge(name: str, body: SampleBody) -> SampleView:
        """The newest rows on any edge: the part of the graph above it runs once over the newest records."""
        return service.trials.sample(service.shown(name, body.place[0]), body)

    @router.post("/test-run")
    def test_run(body: TestRunBody) -> TestRunView:
        """Rows that leave each node, for rows given here or the newest of the sources. Writes nothing."""
        return service.trials.test_run(read_pipeline(body, service.catalogue, body.name or TEST_RUN), body)

    @router.post("/batch")
    def run_batch(body: BatchBody) -> BatchView:
        """Runs a pipeline once over a range; answers when it is done."""
        document = read_pipeline(body, service.catalogue)
        result = asdict(service.trials.run_batch(document, body.start, body.end))
        return BatchView(pipeline=document.name, **result)

    return router
