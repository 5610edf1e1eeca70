"""The state of a key as text: a dataclass, or a dict, and back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic_core import PydanticSerializationError

from headrace.errors import CorruptData, InvalidInput
from headrace.serial.items import encoded

# Everything comes back as it was: NaN, and bytes of any kind.
_CONFIG = ConfigDict(ser_json_inf_nan="constants", ser_json_bytes="base64", val_json_bytes="base64")
VALUES = (
    "use str, int, float, bool, bytes, datetime, date, timedelta, dataclasses, and list, dict, set and tuple of them"
)


@dataclass(frozen=True, slots=True)
class Codec:
    """How the state of a key is made, written and read."""

    new: Callable[[], Any]
    encode: Callable[[Any], str]
    """Raises InvalidInput for a value that would not come back as it is."""
    decode: Callable[[str], Any]


def codec_of(place: str, state: Any) -> Codec:
    """Raises InvalidInput, with the place, for a type that cannot be kept, or that has no state to begin with."""
    if state is dict or get_origin(state) is dict:
        return Codec(dict, encoded, json.loads)
    if not (isinstance(state, type) and dataclasses.is_dataclass(state)):
        raise InvalidInput(f"{place} is {state!r}", valid=("a dataclass", "dict[str, Any]"))
    required = [field.name for field in dataclasses.fields(state) if _is_required(field)]
    if required:
        raise InvalidInput(f"{place}: {required[0]!r} has no default", hint="a new key begins with the defaults")
    return _dataclass_codec(place, state)


def _dataclass_codec(place: str, state: type) -> Codec:
    _refuse_any(place, state)
    try:
        # In a tuple: settings of the adapter hold for what is inside, and not for a dataclass alone.
        adapter: TypeAdapter[tuple[Any]] = TypeAdapter(tuple[state], config=_CONFIG)  # type: ignore[valid-type, arg-type]
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, NameError) as error:
        raise InvalidInput(f"{place} cannot be kept: {str(error).partition(chr(10))[0]}", hint=VALUES) from error

    def encode(value: Any) -> str:
        try:
            return adapter.dump_json((value,), warnings="error")[1:-1].decode()
        except (PydanticSerializationError, ValueError) as error:
            raise InvalidInput(f"{place} cannot hold this value: {_shown(error)}", hint=VALUES) from error

    def decode(text: str) -> Any:
        try:
            return adapter.validate_json(f"[{text}]")[0]
        except ValidationError as error:
            (first, *_) = error.errors()
            field = ".".join(str(part) for part in first["loc"][1:])
            raise CorruptData(
                f"{place} was stored with other fields: {field!r}: {first['msg']}",
                hint="a new field needs a default; for another type give the node a new id, or reset the pipeline",
            ) from error

    return Codec(state, encode, decode)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _refuse_any(place: str, state: type) -> None:
    """A value of no declared type would come back as another: a time as a text."""
    for name, hint in get_type_hints(state).items():
        if hint in (Any, object, dict, list, set, tuple) or Any in get_args(hint):
            raise InvalidInput(f"{place}: {name!r} does not say what it holds", hint="such as dict[str, float]")


def _shown(error: Exception) -> str:
    """The one line of pydantic's text that names the field."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "field_name" in line), lines[0] if lines else type(error).__name__)
