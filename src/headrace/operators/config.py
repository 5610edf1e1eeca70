"""From a node's JSON config to a typed one, and from pydantic's complaints to problems that people can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from headrace.errors import InvalidGraph, Problem, did_you_mean
from headrace.graph.document import Config


class OperatorConfig(BaseModel):
    """Base of every operator's settings. Unknown settings are refused by name; values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


C = TypeVar("C", bound=OperatorConfig)


def read_config(config_type: type[C], config: Config) -> C:
    """Raises InvalidGraph with one `bad_config` problem per wrong setting."""
    try:
        return config_type.model_validate(dict(config))
    except ValidationError as error:
        raise InvalidGraph(_problem(config_type, details) for details in error.errors()) from error


def setting_names(config_type: type[OperatorConfig]) -> tuple[str, ...]:
    """As they are written in a document."""
    return tuple(field.alias or name for name, field in config_type.model_fields.items() if not field.exclude)


def list_settings(config_type: type[OperatorConfig]) -> frozenset[str]:
    """Settings that take several values."""
    fields = config_type.model_fields.items()
    return frozenset(field.alias or name for name, field in fields if get_origin(field.annotation) is list)


def _problem(config_type: type[OperatorConfig], details: ErrorDetails) -> Problem:
    setting = ".".join(str(part) for part in details["loc"])
    context: Mapping[str, Any] = details.get("ctx", {})
    message, hint = f"the setting {setting!r} {_cause(details)}", None
    match details["type"]:
        case "missing":
            message, hint = f"the setting {setting!r} is missing", _description(config_type, setting)
        case "extra_forbidden":
            names = setting_names(config_type)
            message, hint = f"unknown setting {setting!r}", _joined(did_you_mean(setting, names), names)
        case "refused":
            prefix = f"the setting {setting!r}: " if setting else ""
            message, hint = f"{prefix}{context['message']}", _joined(context["hint"], context["valid"])
        case "literal_error":
            message, hint = f"the setting {setting!r} cannot be {details['input']!r}", f"valid: {context['expected']}"
    return Problem("bad_config", message, hint=hint, setting=setting or None)


def _cause(details: ErrorDetails) -> str:
    """Pydantic's sentence, to follow the name of the setting."""
    _, _, said = details["msg"].partition(" should ")
    return f"should {said}, not {details['input']!r}" if said else f"is wrong: {details['msg']}"


def _joined(hint: str | None, valid: Iterable[str]) -> str | None:
    parts = [hint] if hint else []
    if names := ", ".join(valid):
        parts.append(f"valid: {names}")
    return "; ".join(parts) or None


def _description(config_type: type[OperatorConfig], setting: str) -> str | None:
    fields = {field.alias or name: field for name, field in config_type.model_fields.items()}
    return fields[setting].description if setting in fields else None
