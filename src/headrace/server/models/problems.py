"""Single faults of a pipeline, and places in what a person wrote."""

from __future__ import annotations

from headrace.server.models.base import Model


class ProblemView(Model):
    """One fault of a pipeline; `node` and `setting` say where."""

    code: str
    message: str
    node: str | None = None
    setting: str | None = None
    hint: str | None = None


class PlaceView(Model):
    """Line and column count from 1; `marked` is the line with a mark under the spot."""

    line: int
    column: int
    marked: str
