"""State by key in plain Python: one class with a method for a row and one for a timer.

class Silence(KeyedOperator[Reading, Heard, Alert, Settings]):
    key = "device"
    event_time = "ts"

    def on_row(self, key: str, row: Reading, state: Heard) -> None:
        state.last = row.ts
        self.clear_timers()
        self.set_timer(row.ts + self.settings.silence)

    def on_timer(self, key: str, time: datetime, state: Heard) -> None:
        self.emit(Alert(key, state.last))
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, Protocol, TypeVar, get_args, get_origin

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema
from headrace.operators.kept_state import Codec, codec_of
from headrace.operators.settings_class import setting_fields
from headrace.serial import API_VERSION, schema_of

Row = TypeVar("Row")
State = TypeVar("State")
Emitted = TypeVar("Emitted")
Settings = TypeVar("Settings")

_EXAMPLE = "class Silence(KeyedOperator[Reading, Heard, Alert, Settings]): …"


class Calls(Protocol):
    """What the methods of a keyed class reach: the lane that plays its rows and timers."""

    @property
    def now(self) -> datetime: ...
    def emit(self, row: Any) -> None: ...
    def set_timer(self, at: datetime) -> None: ...
    def cancel_timer(self, at: datetime) -> None: ...
    def clear_timers(self) -> None: ...
    def delete_state(self) -> None: ...
    def count(self, name: str, by: int) -> None: ...


class KeyedOperator(ABC, Generic[Row, State, Emitted, Settings]):
    """Called for the rows and timers of each key, in order of event time. The order is the same however the stream is
    cut into micro-batches.

    `Row` and `State` are dataclasses, or `dict[str, Any]`. `Emitted` is a dataclass, or `dict[str, Any]` with the
    columns named in `columns`. `Settings` is a dataclass, or None. A call must not read the clock, draw random numbers
    or keep anything on `self`: the next micro-batch may run in another process.
    """

    key: ClassVar[str | tuple[str, ...]]
    """The column, or columns, whose values name a key. With several columns `key` is a tuple."""
    event_time: ClassVar[str]
    """The event-time column of the rows, as named by the source's event_time."""
    name: ClassVar[str] = ""
    """What pipelines call the operator; left out: the name of the class, as in `silent-device`."""
    columns: ClassVar[str | pa.Schema | None] = None
    """The columns of emitted dicts, as in `device STRING, seconds DOUBLE`."""
    emitted_time: ClassVar[str | None] = None
    """The TIMESTAMP column of emitted rows that windows behind this operator use as event time."""
    adjustable: ClassVar[tuple[str, ...]] = ()
    """Settings that a signal may change while the operator runs."""
    timers_at_end: ClassVar[int] = 0
    """How often a timer may set the next one after the last row of its key, once a bounded input has ended."""

    api_version: ClassVar[int] = API_VERSION
    """For which version of the contract of operators the class was written."""

    declared: ClassVar[Declared]
    settings: Settings
    calls: Calls

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises InvalidInput, with the place, for a class whose declarations do not fit together."""
        super().__init_subclass__(**kwargs)
        if not getattr(cls.on_row, "__isabstractmethod__", False):
            cls.declared = _declared(cls)

    @abstractmethod
    def on_row(self, key: Any, row: Row, state: State) -> None:
        """Called for each row. Changes of `state` are saved, in place as well."""

    def on_timer(self, key: Any, time: datetime, state: State) -> None:
        """Called for each timer: after the rows of its time, and before all later rows."""
        raise InvalidInput(f"{type(self).__name__} sets timers and has no on_timer", hint="define on_timer")

    @property
    def lag(self) -> timedelta:
        """How much earlier than `now` the emitted event times may be. Override it where they are."""
        return timedelta(0)

    @property
    def now(self) -> datetime:
        """The event time of the row or timer that is being handled."""
        return self.calls.now

    def emit(self, row: Emitted) -> None:
        """Emits a row."""
        self.calls.emit(row)

    def set_timer(self, at: datetime) -> None:
        """`on_timer` is called for this key at this event time: once, however often it is set. In `on_row` a time that
        has passed means now; in `on_timer` the time must be later."""
        self.calls.set_timer(at)

    def cancel_timer(self, at: datetime) -> None:
        """Removes the timer of this key at this time, if there is one."""
        self.calls.cancel_timer(at)

    def clear_timers(self) -> None:
        """Removes all timers of this key."""
        self.calls.clear_timers()

    def delete_state(self) -> None:
        """Deletes the state and the timers of this key. Its next row gets a new state."""
        self.calls.delete_state()

    def count(self, name: str, by: int = 1) -> None:
        """Adds to a figure of the node, shown with its other figures."""
        self.calls.count(name, by)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a keyed class says about itself."""

    name: str
    summary: str
    keys: tuple[str, ...]
    row_type: type | None
    """None: rows are dicts with all columns."""
    settings_type: type | None
    codec: Codec
    output: pa.Schema

    def read_columns(self, time: str) -> tuple[str, ...] | None:
        """The columns that are read; None for all."""
        if self.row_type is None:
            return None
        fields = (field.name for field in dataclasses.fields(self.row_type))
        return tuple(dict.fromkeys((*self.keys, time, *fields)))


def _declared(cls: type[KeyedOperator[Any, Any, Any, Any]]) -> Declared:
    row, state, emitted, settings = _types(cls)
    place = cls.__name__
    keys = getattr(cls, "key", None)
    listed = (keys,) if isinstance(keys, str) else keys
    if not listed or not isinstance(listed, tuple):
        raise InvalidInput(f"{place} does not say its key", hint='key = "device", or key = ("site", "device")')
    if not isinstance(getattr(cls, "event_time", None), str):
        raise InvalidInput(f"{place} does not say the event-time column of its rows", hint='event_time = "ts"')
    settings_type = None if settings in (None, type(None)) else settings
    if settings_type is not None:
        setting_fields(settings_type)
    return Declared(
        name=cls.name or _kebab(place),
        summary=_first_line(cls.__doc__) or f"Calls {place} for the rows and timers of each key.",
        keys=listed,
        row_type=_row_type(f"the rows of {place}", row),
        settings_type=settings_type,
        codec=codec_of(f"the state of {place}", state),
        output=_output(cls, emitted),
    )


def _types(cls: type) -> tuple[Any, ...]:
    """What stands in brackets behind KeyedOperator, at the class or the nearest one that it derives from."""
    for base in cls.__mro__:
        for origin in getattr(base, "__orig_bases__", ()):
            found = get_args(origin)
            if get_origin(origin) is KeyedOperator and not any(isinstance(one, TypeVar) for one in found):
                return found
    raise InvalidInput(f"{cls.__name__} does not say the types of its rows, state and settings", hint=_EXAMPLE)


def _row_type(place: str, hint: Any) -> type | None:
    if _is_dict(hint):
        return None
    if not isinstance(hint, type):
        raise InvalidInput(f"{place} are {hint!r}", valid=("a dataclass", "dict[str, Any]"))
    schema_of(hint)
    return hint


def _output(cls: type[KeyedOperator[Any, Any, Any, Any]], emitted: Any) -> pa.Schema:
    if not _is_dict(emitted):
        if cls.columns is not None:
            raise InvalidInput(f"{cls.__name__} emits {emitted!r} and names columns", hint="name the columns once")
        return schema_of(emitted)
    if cls.columns is None:
        hint = 'columns = "device STRING, seconds DOUBLE"'
        raise InvalidInput(f"{cls.__name__} emits dicts and does not name their columns", hint=hint)
    return cls.columns if isinstance(cls.columns, pa.Schema) else arrow_schema(Schema.parse(cls.columns))


def _is_dict(hint: Any) -> bool:
    return hint is dict or get_origin(hint) is dict


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().strip("_")


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
