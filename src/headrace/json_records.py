"""Rows as Python has them (dicts, dataclasses, tables, frames), and the records of JSON that a topic holds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from headrace.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

    from headrace.kafka import Record

# What librdkafka sends as one record, with some room for its key and headers.
RECORD_BYTES_MAX: Final = 1_000_000

Form: TypeAlias = Literal["dicts", "arrow", "pandas", "polars"]
FORMS: Final[tuple[Form, ...]] = ("dicts", "arrow", "pandas", "polars")
_TAKEN: Final = (
    "a list of dicts, dataclasses, str, bytes or None",
    "a DataFrame of pandas or polars",
    "an Arrow table or batch",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    value: bytes | None
    key: bytes | None


def messages_of(rows: object, key: str | None) -> list[Message]:
    """All rows as records, before any of them is sent. Raises InvalidInput that names the row, and why it is none."""
    made: list[Message] = []
    for number, row in enumerate(_rows(rows)):
        try:
            message = Message(_value(row), _key(row, key))
        except InvalidInput as error:
            raise InvalidInput(f"row {number}: {error.message}", hint=error.hint, valid=error.valid) from error
        if len(message.value or b"") + len(message.key or b"") > RECORD_BYTES_MAX:
            raise InvalidInput(f"row {number}: a record may have at most {RECORD_BYTES_MAX} bytes")
        made.append(message)
    return made


def in_form(records: Iterable[Record], form: Form) -> Any:
    """The values of records, as the caller wants them. Raises InvalidInput for a value that is no JSON, or no row."""
    if form not in FORMS:
        raise InvalidInput(f"rows come in no form {form!r}", valid=FORMS)
    values = [_read(record) for record in records]
    if form == "dicts":
        return values
    table = _table(values)
    if form == "arrow":
        return table
    return table.to_pandas() if form == "pandas" else _polars(table)


def _rows(rows: object) -> Iterator[Any]:
    """One by one. A frame or a table is taken by its rows, not by the names of its columns."""
    if hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
        return iter(_arrow(rows).to_pylist())
    if isinstance(rows, Mapping | str | bytes) or dataclasses.is_dataclass(rows) or not isinstance(rows, Iterable):
        hint = "put it into a list" if isinstance(rows, Mapping | str | bytes) or _is_row(rows) else None
        raise InvalidInput(f"{type(rows).__name__} is one value, or none, and not rows", hint=hint, valid=_TAKEN)
    return iter(rows)


def _arrow(rows: Any) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415  (many scripts send nothing but dicts)

    try:
        if type(rows).__module__.partition(".")[0] == "pandas":
            # Its index is no column, and its NaN and NaT are no values.
            return pa.Table.from_pandas(rows, preserve_index=False)
        return pa.table(rows)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidInput(f"{type(rows).__name__} cannot be read as rows: {error}", valid=_TAKEN) from error


def _is_row(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _value(row: Any) -> bytes | None:
    if row is None or isinstance(row, bytes):
        return row
    if isinstance(row, str):
        return row.encode()
    return _json(_fields(row))


def _fields(row: Any) -> Mapping[str, Any]:
    fields = dataclasses.asdict(row) if _is_row(row) else row
    if not isinstance(fields, Mapping):
        raise InvalidInput(f"{row!r} is no row", valid=("a dict", "a dataclass", "str", "bytes", "None"))
    return fields


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, default=_written).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"this is nothing that JSON can say: {error}") from error


def _written(value: Any) -> Any:
    """Dates and times as ISO 8601, decimals as texts that keep every digit; anything else would be a guess."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, Decimal):
        return str(value)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    if _is_row(value):
        return dataclasses.asdict(value)
    raise InvalidInput(f"{value!r} is nothing that JSON can say")


def _key(row: Any, key: str | None) -> bytes | None:
    if key is None:
        return None
    fields = _fields(row) if _is_row(row) or isinstance(row, Mapping) else {}
    if key not in fields:
        raise InvalidInput(f"it has no field {key!r}, which is to be its key", valid=sorted(map(str, fields)))
    found = fields[key]
    return found.encode() if isinstance(found, str) else _json(found)


def _read(record: Record) -> Any:
    try:
        return json.loads(record.value or b"null")
    except ValueError as error:
        where = f"partition {record.partition}, offset {record.offset}"
        raise InvalidInput(f"the record at {where} of {record.topic!r} is no JSON: {error}") from error


def _table(values: list[Any]) -> pa.Table:
    """All fields that any row has; a record without a value is a row of nulls."""
    import pyarrow as pa  # noqa: PLC0415

    rows = [{} if value is None else value for value in values]
    if other := next((row for row in rows if not isinstance(row, dict)), None):
        raise InvalidInput(f"the value {other!r} is no row: it has no fields")
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column(name, [row.get(name) for row in rows]) for name in names}
    return pa.table(columns)


def _column(name: str, values: list[Any]) -> pa.Array[Any]:
    import pyarrow as pa  # noqa: PLC0415

    try:
        column: pa.Array[Any] = pa.array(values)
    except pa.ArrowException as error:
        raise InvalidInput(f"the field {name!r} has values of several types: {error}", hint='form="dicts"') from error
    return column


def _polars(table: pa.Table) -> Any:
    try:
        import polars  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInput("polars is not installed", hint="pip install polars", valid=FORMS) from error
    return polars.from_arrow(table)
