"""Settings of Python operators as a dataclass: each field is a setting, its metadata says the help text and limits.

@dataclass
class Settings:
    silence: timedelta = field(default=timedelta(minutes=1), metadata={"help": "How long a device may be silent."})
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model, model_validator

from headrace.errors import InvalidInput
from headrace.graph.document import Json
from headrace.operators.config import OperatorConfig, read_config
from headrace.operators.durations import canonical_duration_of, duration_ms
from headrace.operators.settings import Duration, refuse_setting
from headrace.serial.parameters import settings_type_of

GIVEN = 'The settings that it takes, by name, such as {"limit": 100}.'
Given = Annotated[dict[str, Any] | None, Field(description=GIVEN)]

_PLAIN = (str, int, float, bool)
_VALID = ("str", "int", "float", "bool", "timedelta", "Literal[…]", "list[…]", "… | None")
_LIMITS = ("gt", "ge", "lt", "le", "min_length", "max_length", "pattern")


def setting_fields(settings: type) -> dict[str, Any]:
    """Fields of a pydantic model, by name. Raises InvalidInput for what is no dataclass, a field of a type that no
    setting has, or metadata that means nothing."""
    if not (isinstance(settings, type) and dataclasses.is_dataclass(settings)):
        raise InvalidInput(f"{settings!r} is no dataclass", hint="settings are fields of a dataclass")
    hints = get_type_hints(settings)
    fields = dataclasses.fields(settings)
    return {field.name: _setting(f"{settings.__name__}.{field.name}", field, hints[field.name]) for field in fields}


def made_settings(settings: type, config: OperatorConfig) -> Any:
    """The dataclass from a config that has its fields among others. Raises what its `__post_init__` raises."""
    hints = get_type_hints(settings)
    fields = dataclasses.fields(settings)
    return settings(**{field.name: _python(getattr(config, field.name), hints[field.name]) for field in fields})


def with_settings(
    name: str, settings: type | None, bases: tuple[type[OperatorConfig], ...], others: Mapping[str, Any]
) -> type[OperatorConfig]:
    """A config of these settings, then others. Raises InvalidInput where both have one name."""
    own = {} if settings is None else setting_fields(settings)
    if doubles := sorted(own.keys() & {*others, "id"}):
        raise InvalidInput(f"the setting name {doubles[0]!r} is reserved", hint="call the field otherwise")
    checks: dict[str, Any] = {}
    if settings is not None:
        checks["_settings_fit"] = model_validator(mode="after")(_check(settings))
    return create_model(name, __base__=bases, __validators__=checks, **own, **others)


def read_settings(settings: type | None, values: Mapping[str, Json] | None, place: str) -> tuple[Any, ...]:
    """The settings of a function, source or sink, from what a node says: one object, or none where it takes none.

    Raises InvalidInput, with one problem for each wrong setting.
    """
    if settings is None:
        if values:
            hint = "give it a parameter `settings` that is a dataclass"
            raise InvalidInput(f"{place} takes no settings, and {', '.join(sorted(values))} is set", hint=hint)
        return ()
    return (made_settings(settings, read_config(_alone(settings), values or {})),)


def settings_for(found: Any, values: Mapping[str, Json] | None, place: str) -> tuple[Any, ...]:
    """The same for a class or a function; an object that is made already takes none."""
    return read_settings(settings_type_of(found) if callable(found) else None, values, place)


@cache
def _alone(settings: type) -> type[OperatorConfig]:
    return with_settings(settings.__name__, settings, (OperatorConfig,), {})


def _check(settings: type) -> Any:
    def check(config: OperatorConfig) -> OperatorConfig:
        try:
            made_settings(settings, config)
        except InvalidInput as error:
            raise refuse_setting(error.message, error.hint) from None
        except ValueError as error:
            raise refuse_setting(str(error)) from None
        return config

    return check


def _setting(place: str, field: dataclasses.Field[Any], hint: Any) -> tuple[Any, Any]:
    metadata = dict(field.metadata)
    description = metadata.pop("help", None)
    if unknown := sorted(metadata.keys() - set(_LIMITS)):
        raise InvalidInput(f"{place} has the metadata {unknown[0]!r}", valid=("help", *_LIMITS))
    type_ = _type(place, hint)
    if field.default_factory is not dataclasses.MISSING:
        factory = field.default_factory
        return type_, Field(default_factory=lambda: _written(factory()), description=description, **metadata)
    default = ... if field.default is dataclasses.MISSING else _written(field.default)
    return type_, Field(default, description=description, **metadata)


def _type(place: str, hint: Any) -> Any:
    """The type of the setting in a document."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType) and len(parts) == 2 and type(None) in parts:
        return _type(place, _without_none(hint)) | None
    if origin is list:
        return list[_type(place, parts[0])]  # type: ignore[misc]
    if hint in _PLAIN or origin is Literal:
        return hint
    if hint is timedelta:
        return Duration
    raise InvalidInput(f"{place}: no setting has the type {hint!r}", valid=_VALID)


def _written(value: Any) -> Any:
    """A default as a document would write it."""
    if isinstance(value, timedelta):
        return canonical_duration_of(value // timedelta(milliseconds=1))
    return [_written(one) for one in value] if isinstance(value, list) else value


def _python(value: Any, hint: Any) -> Any:
    """A value of a document as the dataclass has it."""
    if value is None:
        return None
    hint = _without_none(hint)
    if isinstance(value, list):
        return [_python(one, get_args(hint)[0]) for one in value]
    return timedelta(milliseconds=duration_ms(value)) if hint is timedelta else value


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    (inner,) = (part for part in get_args(hint) if part is not type(None))
    return inner
