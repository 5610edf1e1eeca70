"""Drafts: read, written, discarded, deployed; versions restored into them; templates to begin with."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from headrace.errors import NotFound, did_you_mean
from headrace.server.bodies import NUMBER_MAX, DeployBody, DraftBody, DraftTextBody, ExpectedBody, UseTemplateBody
from headrace.server.models import DeletedView, DeployView, DraftTexts, DraftView, TemplateList
from headrace.server.models.pipelines import WrittenNotation
from headrace.server.notations import read_pipeline
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service
from headrace.server.views import layout_of, template_view, version_info
from headrace.templates import load_templates


def drafts_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api", tags=["drafts"])
    drafts = service.drafts

    @router.get("/pipelines/{name}/draft")
    def read_draft(name: str) -> DraftView:
        """Made of the latest version where there is none yet."""
        return drafts.view(drafts.open(name))

    @router.put("/pipelines/{name}/draft")
    def write_draft(name: str, body: DraftBody) -> DraftView:
        """Kept even with problems. 409 with `current` where it is at another revision: then nothing was written."""
        document = read_pipeline(body, service.catalogue, name)
        layout = None if body.layout is None else layout_of(body.layout)
        return drafts.view(drafts.write(document, body.expected_revision, layout))

    @router.put("/pipelines/{name}/draft/texts/{notation}")
    def write_draft_text(name: str, notation: WrittenNotation, body: DraftTextBody) -> DraftTexts:
        """Keeps what somebody writes and what cannot be read yet. The draft itself stays as it is."""
        return DraftTexts.model_validate({"texts": drafts.write_text(name, notation, body.text)})

    @router.delete("/pipelines/{name}/draft")
    def discard_draft(name: str) -> DeletedView:
        """The next draft is made of the version that runs, or that a start would take."""
        drafts.revert(name)
        return DeletedView(name=name, deleted=True)

    @router.post("/pipelines/{name}/deploy")
    def deploy_draft(name: str, body: DeployBody) -> DeployView:
        """The draft becomes a version and runs instead of the one that runs now. 400 with problems if it cannot run."""
        version, status = service.deploy(name, body)
        return DeployView(
            version=version_info(version), job=service.job_view(status), draft=drafts.view(drafts.open(name))
        )

    @router.post("/pipelines/{name}/versions/{number}/restore")
    def restore_version(name: str, number: Annotated[int, Path(ge=1, le=NUMBER_MAX)], body: ExpectedBody) -> DraftView:
        """The draft becomes that version."""
        return drafts.view(service.restore(name, number, body.expected_revision))

    @router.get("/templates")
    def list_templates() -> TemplateList:
        return TemplateList(templates=[template_view(template) for template in load_templates()])

    @router.post("/templates/{template}/use", status_code=201)
    def use_template(template: str, body: UseTemplateBody) -> DraftView:
        """A new pipeline with the template as its draft. 409 where the name is taken."""
        found = {known.name: known for known in load_templates()}
        if template not in found:
            raise NotFound(f"no template {template!r}", valid=sorted(found), hint=did_you_mean(template, found))
        return drafts.view(drafts.begin(body.name, found[template]))

    return router
