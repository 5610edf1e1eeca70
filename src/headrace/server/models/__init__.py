"""What the API answers, as types: the OpenAPI document, and through it the editor's own types, are made from these."""

from headrace.server.models.details import ProblemDetails
from headrace.server.models.documents import (
    CheckView,
    ColumnView,
    DocumentModel,
    EdgeModel,
    NodeModel,
    Notations,
    Position,
    SchemaView,
)
from headrace.server.models.groups import GroupList, GroupView, ResetView
from headrace.server.models.jobs import (
    BatchView,
    EventList,
    JobEvent,
    JobFigures,
    JobList,
    JobView,
    MetricsTick,
    RowsView,
    SampleView,
    TestRunView,
)
from headrace.server.models.operators import OperatorList, OperatorView
from headrace.server.models.pipelines import (
    DeletedView,
    DeployView,
    DiffView,
    DraftTexts,
    DraftView,
    PipelineList,
    PipelineView,
    RunView,
    SavedView,
    TemplateList,
    VersionList,
)
from headrace.server.models.problems import ProblemView
from headrace.server.models.signals import SignalList, SignalView
from headrace.server.models.topics import MessagePage, ProducedView, TopicList, TopicView

__all__ = [
    "BatchView",
    "CheckView",
    "ColumnView",
    "DeletedView",
    "DeployView",
    "DiffView",
    "DocumentModel",
    "DraftTexts",
    "DraftView",
    "EdgeModel",
    "EventList",
    "GroupList",
    "GroupView",
    "JobEvent",
    "JobFigures",
    "JobList",
    "JobView",
    "MessagePage",
    "MetricsTick",
    "NodeModel",
    "Notations",
    "OperatorList",
    "OperatorView",
    "PipelineList",
    "PipelineView",
    "Position",
    "ProblemDetails",
    "ProblemView",
    "ProducedView",
    "ResetView",
    "RowsView",
    "RunView",
    "SampleView",
    "SavedView",
    "SchemaView",
    "SignalList",
    "SignalView",
    "TemplateList",
    "TestRunView",
    "TopicList",
    "TopicView",
    "VersionList",
]
