"""Settings of nodes that compute row by row: what becomes of rows that an expression fails for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from headrace.operators.settings import OnRowError, RowErrorTopic, refuse_setting
from headrace.operators.spec import OperatorConfig


class RowErrorConfig(OperatorConfig):
    """Each operator declares these settings itself, in the order they are shown."""

    if TYPE_CHECKING:
        on_error: OnRowError
        dead_letter: RowErrorTopic

    @model_validator(mode="before")
    @classmethod
    def _null_has_quotes(cls, given: object) -> object:
        """`on_error=null` without quotes is no word, but nothing said."""
        if isinstance(given, dict) and "on_error" in given and given["on_error"] is None:
            hint = 'write on_error="null" where the result shall be null, or leave it out'
            raise refuse_setting("on_error is null without quotes", hint)
        return given

    @model_validator(mode="after")
    def _dead_letter_is_used(self) -> Self:
        if self.dead_letter is not None and self.on_error != "dead_letter":
            raise refuse_setting("dead_letter is set and on_error is not dead_letter", "set on_error to dead_letter")
        return self
