"""Errors as they leave the API."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from headrace.server.models.pipelines import DraftView
from headrace.server.models.problems import PlaceView, ProblemView


class ProblemDetails(BaseModel):
    """Problem details (RFC 9457). Only the fields that apply are there."""

    model_config = ConfigDict(title="ProblemDetails", extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
    message: str
    domain: str | None = None
    hint: str | None = None
    valid: list[str] | None = None
    node: str | None = None
    place: PlaceView | None = None
    problems: list[ProblemView] | None = None
    current: DraftView | None = Field(default=None, description="Of a conflict about a draft: what is there now.")
