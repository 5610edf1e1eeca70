"""Pipelines, their versions, drafts, differences and templates."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from headrace.server.models.base import Model
from headrace.server.models.documents import CheckView, DocumentModel, EdgeModel, LayoutModel, Notations
from headrace.server.models.jobs import JobView
from headrace.spark.jobs.status import ShownState

ChangeKind = Literal[
    "node_added",
    "node_removed",
    "node_renamed",
    "operator_replaced",
    "setting_changed",
    "edge_added",
    "edge_removed",
]


class VersionInfoView(Model):
    """`ran_at`: when it was last started; null for a version that never ran."""

    pipeline: str
    number: int
    note: str
    author: str
    saved_at: datetime
    content_hash: str
    ran_at: datetime | None


class VersionList(Model):
    """Oldest first."""

    versions: list[VersionInfoView]


class SavedView(Model):
    """`is_new` is false when the latest version means the same already."""

    version: VersionInfoView
    is_new: bool


class PipelineJob(Model):
    state: ShownState
    paused_by: str | None
    version: int | None


class PipelineDraft(Model):
    """`changes`: how many, against the running or else the latest version."""

    revision: int
    changes: int


class PipelineEntry(Model):
    """`latest` is null for a pipeline that is only a draft yet; `runs_next` is the version that a start takes."""

    name: str
    latest: VersionInfoView | None
    runs_next: int | None
    job: PipelineJob | None
    draft: PipelineDraft | None


class PipelineList(Model):
    pipelines: list[PipelineEntry]


class PipelineView(Model):
    version: VersionInfoView
    document: DocumentModel
    layout: LayoutModel
    notations: Notations


class ChangeView(Model):
    """`old` and `new` are ids of a renamed node, names of operators, or JSON texts of a setting; `text` says it all."""

    kind: ChangeKind
    node: str | None
    setting: str | None
    edge: EdgeModel | None
    old: str | None
    new: str | None
    text: str


class DiffView(Model):
    changes: list[ChangeView]


WrittenNotation = Literal["sql", "text"]


class DraftTexts(Model):
    """By notation, what is being written and cannot be read as a pipeline yet."""

    texts: dict[WrittenNotation, str]


class DraftView(CheckView, DraftTexts):
    """`changes` is against `changes_from`; `latest_version` above `base_version`: somebody saved one meanwhile."""

    pipeline: str
    revision: int
    base_version: int
    latest_version: int
    saved_at: datetime
    layout: LayoutModel
    changes: list[ChangeView]
    changes_from: Literal["running", "latest", "nothing"]


class DeployView(Model):
    version: VersionInfoView
    job: JobView
    draft: DraftView


class RunView(Model):
    version: VersionInfoView
    job: JobView


class DeletedView(Model):
    name: str
    deleted: bool


class TemplateView(Model):
    name: str
    title: str
    summary: str
    document: DocumentModel
    layout: LayoutModel


class TemplateList(Model):
    templates: list[TemplateView]
