"""Python functions for SQL: decorate one, and every expression can call it by its name.

@sql_function
def distance_km(lat: float, lon: float) -> float: …          # one row at a time

@sql_function
def doubled(x: Annotated[pa.Array, float]) -> Annotated[pa.Array, float]: …   # a whole Arrow array at once

@sql_aggregate
def spread(values: list[float]) -> float | None: …           # all values of a group that are not null
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.row_types import column_type

SHOWN_CHARACTERS_MAX: Final = 200


class SqlFunction:
    """A function with the types of its columns. Can still be called as a function."""

    def __init__(self, function: Callable[..., Any], kind: Literal["scalar", "aggregate"]) -> None:
        """Raises InvalidInput for a function whose annotations do not say what it takes and gives."""
        self.function = function
        self.kind = kind
        self.name = function.__name__.lower()
        self.__doc__ = function.__doc__
        parameters = [self._parameter(name, hint) for name, hint in _hints(function)]
        self.takes = tuple(taken for taken, _, _ in parameters)
        self._takes_null = tuple(is_optional for _, is_optional, _ in parameters)
        self._takes_array = any(is_array for _, _, is_array in parameters)
        self.gives, _, self._gives_array = _column(self.name, get_type_hints(function, include_extras=True)["return"])
        self._check()

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def over(self, columns: Sequence[pa.Array[Any]]) -> pa.Array[Any]:
        """The function over rows; of an aggregate each row is the list of a group's values.

        Raises InvalidInput that names the function and the row where it fails.
        """
        cast = [self._cast(column, type_) for column, type_ in zip(columns, self.takes, strict=True)]
        if self.kind == "scalar" and self._takes_array:
            return self._at_once(cast)
        made = [self._one(row) for row in self._rows(cast)]
        return pa.array(made, self.gives)

    def _cast(self, column: pa.Array[Any], type_: pa.DataType) -> pa.Array[Any]:
        return column.cast(pa.list_(type_) if self.kind == "aggregate" else type_)

    def _rows(self, columns: Sequence[pa.Array[Any]]) -> list[tuple[Any, ...]]:
        if self.kind == "aggregate" and self._takes_array:
            return [(group.values if group.is_valid else None,) for group in columns[0]]
        return list(zip(*(column.to_pylist() for column in columns), strict=True))

    def _one(self, row: tuple[Any, ...]) -> Any:
        """A null where a null is given that the function does not take, as SQL has it."""
        if any(cell is None and not takes for cell, takes in zip(row, self._takes_null, strict=True)):
            return None
        try:
            return self.function(*row)
        except Exception as error:  # whatever the function raises, it is told with its row
            raise self._failed(row, error) from error

    def _at_once(self, columns: Sequence[pa.Array[Any]]) -> pa.Array[Any]:
        try:
            made: pa.Array[Any] = self.function(*columns)
        except Exception as error:
            for index in range(len(columns[0])):
                self._alone([column.slice(index, 1) for column in columns])
            raise self._failed((), error) from error
        if len(made) != len(columns[0]):
            raise InvalidInput(f"the function {self.name!r} gave {len(made)} values for {len(columns[0])} rows")
        return made.cast(self.gives)

    def _alone(self, columns: Sequence[pa.Array[Any]]) -> None:
        """Raises InvalidInput where one row alone makes the function fail."""
        try:
            self.function(*columns)
        except Exception as error:
            raise self._failed(tuple(column[0].as_py() for column in columns), error) from error

    def _failed(self, row: tuple[Any, ...], error: Exception) -> InvalidInput:
        shown = repr(row)[:SHOWN_CHARACTERS_MAX]
        return InvalidInput(f"the function {self.name!r} failed with {shown}: {type(error).__name__}: {error}")

    def _parameter(self, name: str, hint: Any) -> tuple[pa.DataType, bool, bool]:
        place = f"{self.name}({name})"
        if self.kind == "scalar":
            return _column(place, hint)
        if get_origin(hint) is list:
            return column_type(place, get_args(hint)[0]), False, False
        if get_origin(hint) is Annotated:
            return _column(place, hint)
        raise InvalidInput(f"{place}: an aggregate takes a list", hint="def spread(values: list[float]) -> float: …")

    def _check(self) -> None:
        if self.kind == "aggregate" and len(self.takes) != 1:
            raise InvalidInput(f"the aggregate {self.name!r} takes {len(self.takes)} columns; it can take one")
        if self.kind == "scalar" and self._takes_array != self._gives_array and self.takes:
            raise InvalidInput(f"the function {self.name!r} must take and give arrays, or take and give values")
        if not self.takes:
            raise InvalidInput(f"the function {self.name!r} takes no column")


def sql_function(function: Callable[..., Any]) -> SqlFunction:
    """Makes a function callable in SQL. Raises InvalidInput without annotations that say its columns."""
    return SqlFunction(function, "scalar")


def sql_aggregate(function: Callable[..., Any]) -> SqlFunction:
    """Makes an aggregate of a function of all values of a group; nulls are left out, as SQL's own aggregates do."""
    return SqlFunction(function, "aggregate")


def _hints(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    hints = get_type_hints(function, include_extras=True)
    names = list(inspect.signature(function).parameters)
    missing = [name for name in (*names, "return") if name not in hints]
    if missing:
        hint = "def f(x: float) -> float: …"
        raise InvalidInput(f"the function {function.__name__!r} does not say the type of {missing[0]!r}", hint=hint)
    return [(name, hints[name]) for name in names]


def _column(place: str, hint: Any) -> tuple[pa.DataType, bool, bool]:
    """The type of its values, whether it may be null, whether it is a whole array."""
    if get_origin(hint) is Annotated:
        _, inner, *_ = get_args(hint)
        return column_type(place, inner), True, True
    is_optional = get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)
    return column_type(place, hint), is_optional, False
