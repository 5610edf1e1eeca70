"""The values of forms for the rows of a batch. Runs in tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from headrace.errors import HeadraceError, InvalidInput
from headrace.operators.arrow_types import arrow_type
from headrace.operators.columnar.forms import COLUMN, LITERAL, MADE, TRY, VOID, Form, columns_of, frozen, may_raise
from headrace.operators.columnar.kernels import BACKWARDS, KERNELS, LOOK_AT_ALL, literal_value

# The stubs know no functions of values of just any type.
pc: Any = pyarrow.compute
# An array, or a scalar where all rows have the same value.
Value: TypeAlias = Any


class Made:
    """What is computed under names: by which node, and how. Loaded once for a task."""

    def __init__(self, data: Mapping[str, Sequence[Any]]) -> None:
        self._forms = {name: (node, frozen(form)) for name, (node, form) in data.items()}

    def __getitem__(self, name: str) -> tuple[str, Form]:
        return self._forms[name]


class Values:
    """Computes each form once for its rows, and what may raise only for rows that want it."""

    def __init__(self, rows: pa.RecordBatch, made: Made | None = None, outer: tuple[Values, Any] | None = None) -> None:
        self.rows = rows
        self._made = made or Made({})
        self._outer = outer
        self._known: dict[Form, Value] = {}

    def array(self, form: Form) -> Any:
        """One value for each row. Raises InvalidInput for a row that Spark fails for, with the node where known."""
        return self.spread(self.of(form))

    def named(self, name: str) -> Any:
        """What is computed under a name."""
        node, form = self._made[name]
        try:
            return self.array(form)
        except HeadraceError as error:
            error.node = error.node or node
            raise

    def of(self, form: Form) -> Value:
        known = self._known.get(form)
        if known is None:
            known = self._from_outer(form)
            known = self._known[form] = self._computed(form) if known is None else known
        return known

    def where(self, wanted: Any, form: Form) -> Value:
        """The values for rows that want them. Of others it says nothing."""
        if form in self._known or not _may_raise(form):
            return self.of(form)
        if wanted.true_count == self.rows.num_rows:
            return self.of(form)
        inner = self.only(wanted)
        nothing = self.spread(pa.scalar(None, arrow_type(form[1])))
        return pc.replace_with_mask(nothing, wanted, inner.array(form))

    def only(self, wanted: Any) -> Values:
        """Of fewer rows; what is known of them stays known."""
        return Values(self.rows.filter(wanted), self._made, (self, wanted))

    def every(self) -> Any:
        """All rows, as a mask."""
        return self.spread(pa.scalar(True))

    def spread(self, value: Value) -> Any:
        """One for each row, also of a value that all rows have."""
        anything: Any = value
        return pa.repeat(anything, self.rows.num_rows) if isinstance(value, pa.Scalar) else value

    def _from_outer(self, form: Form) -> Value | None:
        """What was computed for more rows already."""
        if self._outer is None:
            return None
        values, wanted = self._outer
        known = values._known.get(form)
        return known if known is None or isinstance(known, pa.Scalar) else known.filter(wanted)

    def _computed(self, form: Form) -> Value:
        operation, type_, *arguments = form
        if operation == COLUMN:
            return self.rows.column(arguments[0])
        if operation == LITERAL:
            return pa.scalar(literal_value(type_, arguments[0]), pa.null() if type_ == VOID else arrow_type(type_))
        if operation.rstrip("!") == MADE:
            return self.named(arguments[0])
        if operation in _LAZY:
            return _LAZY[operation](self, arguments)
        kernel, values = KERNELS[operation], self._operands(operation, arguments)
        found: Value = kernel(*values)
        wanted = arrow_type(type_)
        # Only an integer loses something: as the nearest double.
        return found if found.type == wanted else found.cast(wanted, safe=False)

    def _operands(self, operation: str, arguments: Sequence[Any]) -> list[Any]:
        """As Spark does it: where one operand is null, those after it are not looked at."""
        values: list[Any] = list(arguments)
        order = [place for place, argument in enumerate(arguments) if isinstance(argument, tuple)]
        wanted: Any = None
        for place in reversed(order) if operation in BACKWARDS else order:
            form = arguments[place]
            found = self.of(form) if wanted is None else self.where(wanted, form)
            values[place] = found
            if _any_may_raise(arguments) and operation not in LOOK_AT_ALL:
                valid = self.spread(pc.is_valid(found))
                wanted = valid if wanted is None else pc.and_(wanted, valid)
        return values


@lru_cache(maxsize=4_096)
def _may_raise(form: Form) -> bool:
    return may_raise(form)


def _any_may_raise(arguments: Sequence[Any]) -> bool:
    return any(isinstance(argument, tuple) and _may_raise(argument) for argument in arguments)


def holds(values: Values, form: Form) -> NDArray[np.bool_]:
    """For which rows a condition is true; null is no."""
    found: NDArray[np.bool_] = values.array(form).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _and(values: Values, arguments: Sequence[Form]) -> Value:
    """Once it is false, the rest is not looked at."""
    found = values.of(arguments[0]) if arguments else pa.scalar(True)
    for form in arguments[1:]:
        wanted = values.spread(pc.fill_null(found, True)) if _may_raise(form) else None
        found = pc.and_kleene(found, values.of(form) if wanted is None else values.where(wanted, form))
    return found


def _or(values: Values, arguments: Sequence[Form]) -> Value:
    """Once it is true, the rest is not looked at."""
    found = values.of(arguments[0]) if arguments else pa.scalar(False)
    for form in arguments[1:]:
        wanted = values.spread(pc.invert(pc.fill_null(found, False))) if _may_raise(form) else None
        found = pc.or_kleene(found, values.of(form) if wanted is None else values.where(wanted, form))
    return found


def _case(values: Values, arguments: Sequence[Form]) -> Value:
    """`condition, result, …, result`: the first condition that holds decides."""
    *pairs, otherwise = arguments
    conditions, results = pairs[::2], pairs[1::2]
    if not _any_may_raise(arguments):
        chosen = values.of(otherwise)
        for condition, result in zip(reversed(conditions), reversed(results), strict=True):
            chosen = pc.if_else(pc.fill_null(values.of(condition), False), values.of(result), chosen)
        return chosen
    rest = values.every()
    picked: list[tuple[Any, Value]] = []
    for condition, result in zip(conditions, results, strict=True):
        here = pc.and_(rest, values.spread(pc.fill_null(values.where(rest, condition), False)))
        picked.append((here, values.where(here, result)))
        rest = pc.and_not(rest, here)
    return reduce(lambda other, one: pc.if_else(one[0], one[1], other), reversed(picked), values.where(rest, otherwise))


def _coalesce(values: Values, arguments: Sequence[Form]) -> Value:
    """The first that is not null; those after it are not looked at."""
    found = values.of(arguments[0])
    for form in arguments[1:]:
        wanted = values.spread(pc.is_null(found)) if _may_raise(form) else None
        found = pc.coalesce(found, values.of(form) if wanted is None else values.where(wanted, form))
    return found


def _tried(values: Values, arguments: Sequence[Form]) -> Value:
    """Null for rows that the form raises for, which are found by halving."""
    (form,) = arguments
    count = values.rows.num_rows
    try:
        return values.of(form)
    except InvalidInput:
        if count == 1 or not columns_of(form):
            return pa.scalar(None, arrow_type(form[1]))
    is_first = np.arange(count) < count // 2
    halves = (values.only(pa.array(wanted)) for wanted in (is_first, ~is_first))
    return pa.concat_arrays([half.spread(_tried(half, arguments)) for half in halves])


_LAZY = {TRY: _tried, "and": _and, "or": _or, "case": _case, "coalesce": _coalesce}
