"""From our own types to the models that leave the API."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from headrace.graph import Document, Draft, Inspection, Layout, Schema, VersionInfo
from headrace.graph.diff import (
    Change,
    Diff,
    EdgeAdded,
    EdgeRemoved,
    NodeAdded,
    NodeRemoved,
    NodeRenamed,
    OperatorReplaced,
    SettingChanged,
)
from headrace.graph.document import Edge
from headrace.operators import AnyOperator, describe
from headrace.server.figures import job_error, read_rate
from headrace.server.models.documents import (
    CheckView,
    ColumnView,
    DocumentModel,
    EdgeModel,
    LayoutModel,
    Notations,
    Position,
    SchemaView,
)
from headrace.server.models.jobs import (
    BeginningView,
    JobFigures,
    JobView,
    NodeRows,
    QueryView,
    RowError,
    SampleView,
    TestRunView,
)
from headrace.server.models.operators import OperatorView
from headrace.server.models.pipelines import ChangeView, DraftView, TemplateView, VersionInfoView
from headrace.server.models.problems import ProblemView
from headrace.spark import JobStatus, QueryStatus
from headrace.spark.jobs.beginning import Beginning
from headrace.spark.jobs.sample import Sample
from headrace.templates import Template


def document_model(document: Document) -> DocumentModel:
    return DocumentModel.model_validate(document.to_dict())


def layout_model(layout: Layout) -> LayoutModel:
    return {node: Position(x=x, y=y) for node, (x, y) in layout.positions.items()}


def layout_of(model: LayoutModel) -> Layout:
    return Layout({node: (position.x, position.y) for node, position in model.items()})


def version_info(info: VersionInfo) -> VersionInfoView:
    return VersionInfoView.model_validate(info)


def row_error(node: str, letter: Mapping[str, Any]) -> RowError:
    """Of a dead letter: of a row, or of a record that could not be read."""
    return RowError(
        node=letter.get("node", node),
        reason=letter["reason"],
        topic=letter.get("topic"),
        partition=letter.get("partition"),
        offset=letter.get("offset"),
        row=letter.get("row") or letter.get("value") or letter.get("value_base64"),
    )


def schema_view(schema: Schema) -> SchemaView:
    return SchemaView(columns=[ColumnView(name=column.name, type=column.type) for column in schema])


def check_view(document: Document, found: Inspection, notations: Notations) -> CheckView:
    return CheckView(**_checked(document, found, notations))


def draft_view(
    draft: Draft,
    found: Inspection,
    notations: Notations,
    *,
    texts: Mapping[str, str],
    diff: Diff,
    changes_from: str,
    latest_version: int,
) -> DraftView:
    return DraftView.model_validate(
        {
            **_checked(draft.document, found, notations),
            "pipeline": draft.pipeline,
            "revision": draft.revision,
            "base_version": draft.base_version,
            "latest_version": latest_version,
            "saved_at": draft.saved_at,
            "layout": layout_model(draft.layout),
            "texts": dict(texts),
            "changes": changes(diff),
            "changes_from": changes_from,
        }
    )


def _checked(document: Document, found: Inspection, notations: Notations) -> dict[str, Any]:
    return {
        "document": document_model(document),
        "problems": [ProblemView.model_validate(problem) for problem in found.problems],
        "schemas": {node: schema_view(schema) for node, schema in found.schemas.items()},
        "notations": notations,
    }


def template_view(template: Template) -> TemplateView:
    return TemplateView(
        name=template.name,
        title=template.title,
        summary=template.summary,
        document=document_model(template.document),
        layout=layout_model(template.layout),
    )


def operator_view(operator: AnyOperator) -> OperatorView:
    fields = describe(operator)
    fields["settings"] = fields.pop("config_schema")
    return OperatorView.model_validate(fields)


def beginning_view(one: Beginning) -> BeginningView:
    return BeginningView(query=one.plan.name, goes_on=one.goes_on, empty=list(one.empty), text=one.summary)


def job_view(
    status: JobStatus,
    version: int | None,
    figures: JobFigures,
    signals_refused: str | None,
    began: Iterable[Beginning] = (),
    *,
    newer_code: str | None = None,
) -> JobView:
    return JobView(
        **figures.model_dump(exclude={"state", "paused_by", "error"}),
        state=status.shown_state,
        paused_by=status.paused_by,
        error=job_error(status),
        pipeline=status.pipeline,
        version=version,
        content_hash=status.content_hash,
        started_at=datetime.fromtimestamp(status.started_ms / 1000, UTC),
        restarts=status.restarts,
        signals_refused=signals_refused,
        parameters={node: dict(settings) for node, settings in status.parameters.items()},
        queries=[_query_view(query, figures) for query in status.queries],
        began=[beginning_view(one) for one in began],
        newer_code=newer_code,
    )


def sample_view(sample: Sample, began_s: float) -> SampleView:
    return SampleView(
        columns=schema_view(sample.schema).columns,
        rows=sample.rows,
        ranges=sample.ranges,
        begins_empty=sample.begins_empty,
        took_ms=_since_ms(began_s),
    )


def test_run_view(samples: Mapping[str, Sample], began_s: float) -> TestRunView:
    nodes = {
        node: NodeRows(columns=schema_view(sample.schema).columns, rows=sample.rows) for node, sample in samples.items()
    }
    return TestRunView(nodes=nodes, took_ms=_since_ms(began_s))


def _since_ms(began_s: float) -> int:
    return round((time.monotonic() - began_s) * 1000)


def _query_view(query: QueryStatus, figures: JobFigures) -> QueryView:
    shown = {name: value for name, value in asdict(query).items() if name in QueryView.model_fields}
    return QueryView.model_validate({**shown, "rows_per_second": read_rate(query, figures.edges)})


def changes(diff: Diff) -> list[ChangeView]:
    return [_change(change) for change in diff.changes]


def _change(change: Change) -> ChangeView:
    """The kind is the name of the change's class, in the API's spelling."""
    fields: dict[str, Any] = dict.fromkeys(("node", "setting", "edge", "old", "new"))
    match change:
        case NodeAdded(node):
            fields |= {"kind": "node_added", "node": node.id, "new": node.operator}
        case NodeRemoved(node):
            fields |= {"kind": "node_removed", "node": node.id, "old": node.operator}
        case NodeRenamed(old, new):
            fields |= {"kind": "node_renamed", "node": new, "old": old, "new": new}
        case OperatorReplaced(name, old, new):
            fields |= {"kind": "operator_replaced", "node": name, "old": old, "new": new}
        case SettingChanged(name, setting, before, after):
            fields |= {"kind": "setting_changed", "node": name, "setting": setting, "old": before, "new": after}
        case EdgeAdded(edge):
            fields |= {"kind": "edge_added", "edge": _edge(edge)}
        case EdgeRemoved(edge):
            fields |= {"kind": "edge_removed", "edge": _edge(edge)}
    return ChangeView.model_validate({**fields, "text": str(change)})


def _edge(edge: Edge) -> EdgeModel:
    return EdgeModel.model_validate(edge)
