"""The one place where user code is called: its errors come out with the node, the lane, the row and the traceback."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

from headrace.errors import InvalidConfig, JobFailed
from headrace.serial.batch import Batch
from headrace.serial.contract import Operator
from headrace.serial.places import InputPlaces, Places
from headrace.serial.signals import Signal
from headrace.serial.time_limit import OperatorHangs, time_limit

# A row is quoted in an error up to this many characters.
ROW_CHARACTERS_MAX = 500
VALUE_CHARACTERS_MAX = 200
TRACEBACK_LINES_MAX = 12

P = ParamSpec("P")
Action = Literal["fail", "drop", "dead_letter"]


@dataclass(frozen=True, slots=True)
class OnError:
    """What becomes of a row that an operator cannot handle, after so many more tries."""

    action: Action = "fail"
    retries: int = 0
    retry_delay_ms: int = 100


FAIL = OnError()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One row that was set aside, as JSON, and why."""

    node: str
    lane: int
    row: str
    reason: str
    partition: int | None = None
    offset: int | None = None

    def to_json(self) -> str:
        fields = {"node": self.node, "lane": self.lane, "partition": self.partition, "offset": self.offset}
        return json.dumps({**fields, "reason": self.reason, "row": self.row})


def letter_of(node: str, lane: int, row: dict[str, Any], reason: str) -> DeadLetter:
    """For a row that is set aside without the record that it was."""
    return DeadLetter(node, lane, _quoted(row), reason)


class OperatorFailed(JobFailed):
    """An operator raised: says in which node and lane, on which row, and what."""

    code = "operator_failed"


class Boundary:
    """Calls one operator's methods. Rows that it cannot handle are found by halving, if its rows do not depend on
    each other; else the whole micro-batch fails and is run again from the state it began with.

    Raises InvalidConfig when rows shall be set aside by an operator with state.
    """

    def __init__(
        self,
        node: str,
        lane: int,
        operator: Operator,
        policy: OnError,
        *,
        limit_s: float | None = None,
        input_places: InputPlaces | None = None,
    ) -> None:
        if policy.action != "fail" and not operator.stateless:
            raise InvalidConfig(
                f"rows that fail cannot be set aside: {type(operator).__name__} keeps state",
                node=node,
                valid=("fail",),
            )
        self._node = node
        self._lane = lane
        self._operator = operator
        self._policy = policy
        self._limit_s = limit_s
        self._input = input_places or InputPlaces()
        self.failed_rows = 0
        self.dead_letters: list[DeadLetter] = []

    def process(self, batch: Batch) -> list[Batch]:
        """What the operator makes of a batch, in order. Raises OperatorFailed if it fails for good."""
        try:
            return self._processed(batch)
        except Exception as error:
            if not self._operator.stateless or isinstance(error, OperatorHangs):
                raise self._failure(error, batch) from error
            return list(self._in_halves(batch, error))

    def call(self, method: Callable[P, Iterable[Batch] | None], *args: P.args, **kwargs: P.kwargs) -> list[Batch]:
        """Any other method of the operator."""
        try:
            with time_limit(self._limit_s):
                return list(method(*args, **kwargs) or ())
        except Exception as error:
            raise self._failure(error, None) from error

    def offer(self, signal: Signal) -> list[Batch] | None:
        """What the operator makes of a signal; None if it does not handle it."""
        try:
            with time_limit(self._limit_s):
                made = self._operator.on_signal(signal)
                return None if made is None else list(made)
        except Exception as error:
            raise self._failure(error, None) from error

    def _processed(self, batch: Batch) -> list[Batch]:
        with time_limit(self._limit_s):
            return list(self._operator.process(batch))

    def _in_halves(self, batch: Batch, error: Exception) -> Iterator[Batch]:
        if batch.num_rows > 1:
            middle = batch.num_rows // 2
            for half in (batch.part(0, middle), batch.part(middle, batch.num_rows - middle)):
                try:
                    yield from self._processed(half)
                except Exception as inner:
                    yield from self._in_halves(half, inner)
        else:
            yield from self._again(batch, error)

    def _again(self, batch: Batch, error: Exception) -> Iterator[Batch]:
        """One row that failed once."""
        for _ in range(self._policy.retries):
            time.sleep(self._policy.retry_delay_ms / 1000)
            try:
                yield from self._processed(batch)
            except Exception as inner:
                error = inner
            else:
                return
        if self._policy.action == "fail":
            raise self._failure(error, batch) from error
        self.failed_rows += 1
        if self._policy.action == "dead_letter":
            self.dead_letters.append(self._letter(batch, error))

    def _letter(self, batch: Batch, error: Exception) -> DeadLetter:
        reason = f"{type(error).__name__}: {error}"
        partition, offset = (None, None) if batch.places is None else batch.places.at(0)
        return DeadLetter(self._node, self._lane, _quoted(batch.rows.to_pylist()[0]), reason, partition, offset)

    def _failure(self, error: Exception, batch: Batch | None) -> OperatorFailed:
        where = f"in lane {self._lane}"
        if batch is not None and batch.num_rows:
            where += f", {self._place(batch)}"
        lines = traceback.format_exception(error)[-TRACEBACK_LINES_MAX:]
        return OperatorFailed(
            f"{type(error).__name__}: {error} ({where})\n{''.join(lines)}".rstrip(),
            node=self._node,
            record=_record(batch),
        )

    def _place(self, batch: Batch) -> str:
        """The records that the rows are, or, behind an operator that made others of them, those they were made of."""
        places: Places | None = batch.places or self._input.current
        source = "" if places is None else f"{places}, "
        first = _quoted(batch.rows.slice(0, 1).to_pylist()[0])
        return f"{source}row {first}" if batch.num_rows == 1 else f"{source}{batch.num_rows} rows from {first}"


def _record(batch: Batch | None) -> dict[str, Any] | None:
    """The row that failed, where it is known which one; its values as people read them, and not too long."""
    if batch is None or batch.num_rows != 1:
        return None
    row = batch.rows.to_pylist()[0]
    return {name: _short(value) for name, value in row.items()}


def _short(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= VALUE_CHARACTERS_MAX else f"{text[:VALUE_CHARACTERS_MAX]}…"


def _quoted(row: dict[str, Any]) -> str:
    return json.dumps(row, default=str)[:ROW_CHARACTERS_MAX]
