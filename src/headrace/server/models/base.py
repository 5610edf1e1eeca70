"""The base of every model: nothing beyond its fields, and names that OpenAPI shows without suffixes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


def _all_required(schema: dict[str, Any]) -> None:
    """Answers always hold every field; what may be left out of a request is said in its field's description."""
    schema["required"] = list(schema.get("properties", {}))


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", from_attributes=True, json_schema_extra=_all_required)
