"""Bodies of requests, checked at the edge."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PipelineBody(Body):
    """A pipeline in one of its notations. A name given here wins over the one in the notation."""

    name: str | None = Field(
        default=None, min_length=1, description="The pipeline's name; text notation has none of its own."
    )
    document: dict[str, Any] | None = None
    sql: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _is_one_notation(self) -> PipelineBody:
        given = [name for name in ("document", "sql", "text") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of document, sql and text, not {len(given)}")
        return self


class SaveBody(PipelineBody):
    note: str = ""
    author: str = ""


class StartBody(Body):
    """`reset` forgets state and offsets: the pipeline begins at its sources' start."""

    version: int | None = Field(default=None, ge=1)
    reset: bool = False


class BatchBody(PipelineBody):
    """A range as `start` and `end` of topics: earliest, latest, offset:N or timestamp:ISO8601."""

    start: str = "earliest"
    end: str = "latest"
