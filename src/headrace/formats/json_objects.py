"""JSON values that Arrow's parser cannot read, or not as they are written here, read one by one.

These are maps, bytes in base64, dates and times inside of lists, maps and structs, and numbers that are none ("NaN").
Reading is as strict as Arrow's: a value is what its type wants, or the record is bad.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

import pyarrow as pa

Objects: TypeAlias = Sequence[dict[str, Any]]
_Reader: TypeAlias = Callable[[Any], Any]

_Moment = TypeVar("_Moment", bound=date)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_NUMBERS: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def takes_objects(type_: pa.DataType) -> bool:
    """Whether Arrow's parser cannot read columns of this type."""
    return pa.types.is_binary(type_) or pa.types.is_map(type_) or any(map(_differs_inside, _inner(type_)))


def has_reals(type_: pa.DataType) -> bool:
    """Whether a column of this type may hold "NaN" or "Infinity"."""
    return pa.types.is_floating(type_) or any(map(has_reals, _inner(type_)))


def read_objects(values: pa.BinaryArray) -> list[dict[str, Any]]:
    """One for each value. Numbers keep all their digits. Raises ValueError for what is no JSON object."""
    return [_object(text) for text in cast("list[bytes]", values.to_pylist())]


def object_column(objects: Objects, field: pa.Field[Any]) -> pa.Array[Any]:
    """The values of one name. Raises ValueError, with the name, where one does not fit."""
    read = _reader(field.type)
    values = [_named(read, one.get(field.name), field.name) for one in objects]
    try:
        found: pa.Array[Any] = pa.array(values, field.type)
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError(f"{field.name}: {error}") from error
    return found


def refuse_misfits(values: pa.BinaryArray, columns: pa.Schema) -> None:
    """Raises ValueError that names the column and the value, where Arrow's parser says that it expected others."""
    objects = read_objects(values)
    for field in columns:
        object_column(objects, field)


def _object(text: bytes) -> dict[str, Any]:
    found = json.loads(text, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_each_once)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _named(read: _Reader, value: Any, name: str) -> Any:
    try:
        return None if value is None else read(value)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{name}: {error}") from error


def _inner(type_: pa.DataType) -> list[pa.DataType]:
    return [type_.field(index).type for index in range(type_.num_fields)]


def _differs_inside(type_: pa.DataType) -> bool:
    return pa.types.is_temporal(type_) or takes_objects(type_)


def _reader(type_: pa.DataType) -> _Reader:
    """Reads one value that is not null."""
    if isinstance(type_, pa.MapType):
        return _map_reader(type_)
    if isinstance(type_, pa.ListType):
        return _list_reader(type_)
    if isinstance(type_, pa.StructType):
        return _struct_reader(type_)
    return next(read for fits, read in _SINGLE if fits(type_))


def _list_reader(type_: pa.ListType[Any]) -> _Reader:
    read = _reader(type_.value_type)
    return lambda value: [None if one is None else read(one) for one in _require(value, list)]


def _map_reader(type_: pa.MapType[Any, Any, Any]) -> _Reader:
    read, key_type = _reader(type_.item_type), type_.key_type

    def keyed(key: str) -> Any:
        return key if pa.types.is_string(key_type) else pa.scalar(key).cast(key_type).as_py()

    return lambda value: [
        (keyed(key), None if one is None else read(one)) for key, one in _require(value, dict).items()
    ]


def _struct_reader(type_: pa.StructType) -> _Reader:
    readers = {field.name: _reader(field.type) for field in type_}

    def read(value: Any) -> dict[str, Any]:
        found = _require(value, dict)
        return {name: _named(one, found.get(name), name) for name, one in readers.items()}

    return read


def _require(value: Any, *types: type) -> Any:
    """Exactly of one of these types: JSON's true is no 1."""
    if type(value) not in types:
        shown = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str)
        raise ValueError(f"{shown} is no {_WORDS[types[0]]}")
    return value


def _real(value: Any) -> float:
    return _NO_NUMBERS[value] if value in _NO_NUMBERS else float(_require(value, Decimal, int))


def _decimal(value: Any) -> Decimal:
    return Decimal(_require(value, Decimal, int, str))


def _bytes(value: Any) -> bytes:
    return base64.b64decode(_require(value, str), validate=True)


def _date(value: Any) -> date:
    if isinstance(value, str):
        return _written(date.fromisoformat, value, "date")
    return _EPOCH.date() + timedelta(days=_require(value, int))


def _time(value: Any) -> datetime:
    if not isinstance(value, str):
        return _EPOCH + timedelta(milliseconds=_require(value, int))
    time = _written(datetime.fromisoformat, value, "time")
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _written(read: Callable[[str], _Moment], text: str, word: str) -> _Moment:
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{json.dumps(text)} is no {word}: {error}") from None


_WORDS: Final[dict[type, str]] = {
    bool: "boolean", int: "whole number", Decimal: "number", str: "text", list: "list", dict: "object",
}  # fmt: skip
_SINGLE: Final[tuple[tuple[Callable[[pa.DataType], bool], _Reader], ...]] = (
    (pa.types.is_boolean, lambda value: _require(value, bool)),
    (pa.types.is_integer, lambda value: _require(value, int)),
    (pa.types.is_floating, _real),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_string, lambda value: _require(value, str)),
    (pa.types.is_binary, _bytes),
    (pa.types.is_date32, _date),
    (pa.types.is_timestamp, _time),
)
