"""Pipelines and their versions: saved, listed, shown, compared, checked, deleted."""

from __future__ import annotations

from fastapi import APIRouter, Query, Response

from headrace.graph import Version
from headrace.server.bodies import NUMBER_MAX, PipelineBody, SaveBody
from headrace.server.models import (
    CheckView,
    DeletedView,
    DiffView,
    PipelineList,
    PipelineView,
    SavedView,
    VersionList,
)
from headrace.server.models.pipelines import PipelineDraft, PipelineEntry, PipelineJob
from headrace.server.notations import all_notations, read_pipeline
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service
from headrace.server.views import changes, check_view, document_model, layout_model, version_info
from headrace.spark.planning.checks import inspect_planned, validate_planned


def pipelines_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api", tags=["pipelines"])

    @router.post("/pipelines", status_code=201)
    def save_pipeline(body: SaveBody, response: Response) -> SavedView:
        """A new version; 200 and the latest one when it means the same as that."""
        saved = service.save(read_pipeline(body, service.catalogue), note=body.note, author=body.author)
        response.status_code = 201 if saved.is_new else 200
        return SavedView(version=version_info(saved.version), is_new=saved.is_new)

    @router.post("/pipelines/validate")
    def validate_pipeline(body: PipelineBody) -> CheckView:
        """What is known of a pipeline that can run; 400 with every problem found otherwise. Nothing is saved."""
        document = read_pipeline(body, service.catalogue)
        validate_planned(document, service.catalogue)
        return _checked(service, body)

    @router.post("/check")
    def check_pipeline(body: PipelineBody) -> CheckView:
        """What is known of a pipeline, faults included, for live typing. 400 where it does not parse."""
        return _checked(service, body)

    @router.get("/pipelines")
    def list_pipelines() -> PipelineList:
        return PipelineList(pipelines=_entries(service))

    @router.get("/pipelines/{name}")
    def show_pipeline(name: str, version: int | None = Query(None, ge=1, le=NUMBER_MAX)) -> PipelineView:
        """The latest version or a given one, in all notations."""
        return _shown(service, service.version(name, version))

    @router.get("/pipelines/{name}/versions")
    def list_versions(name: str) -> VersionList:
        return VersionList(versions=[version_info(info) for info in service.versions(name)])

    @router.get("/pipelines/{name}/diff")
    def diff_versions(name: str, old: str, new: str) -> DiffView:
        """What changed from `old` to `new`: each a version's number, `draft`, `running` or `latest`."""
        return DiffView(changes=changes(service.compare(name, old, new)))

    @router.delete("/pipelines/{name}")
    def delete_pipeline(name: str) -> DeletedView:
        service.delete(name)
        return DeletedView(name=name, deleted=True)

    return router


def _checked(service: Service, body: PipelineBody) -> CheckView:
    document = read_pipeline(body, service.catalogue)
    return check_view(
        document, inspect_planned(document, service.catalogue), all_notations(document, service.catalogue)
    )


def _shown(service: Service, version: Version) -> PipelineView:
    return PipelineView(
        version=version_info(version.info),
        document=document_model(version.document),
        layout=layout_model(version.layout),
        notations=all_notations(version.document, service.catalogue),
    )


def _entries(service: Service) -> list[PipelineEntry]:
    """Every pipeline that has a version or a draft, by name."""
    known = service.pipelines()
    latest = {info.name: version_info(info.latest) for info in known}
    runs_next = {info.name: info.runs_next for info in known}
    jobs = {
        job.pipeline: PipelineJob(
            state=job.shown_state, paused_by=job.paused_by, version=service.job_version(job.pipeline)
        )
        for job in service.jobs()
    }
    drafts = {
        draft.pipeline: PipelineDraft(revision=draft.revision, changes=len(service.drafts.changes(draft)[0].changes))
        for draft in service.drafts.all()
    }
    return [
        PipelineEntry(
            name=name,
            latest=latest.get(name),
            runs_next=runs_next.get(name),
            job=jobs.get(name),
            draft=drafts.get(name),
        )
        for name in sorted({*latest, *drafts})
    ]
