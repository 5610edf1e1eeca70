"""The contract of a serial operator: Python in the stream, one batch after another, state by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from headrace.serial.batch import Batch
from headrace.serial.context import Context
from headrace.serial.signals import Signal
from headrace.serial.timers import Timer

# Plugins say for which version of this contract they were written.
API_VERSION = 1


class Operator(ABC):
    """Works for one lane, strictly serially: no method is called while another one runs.

    In every micro-batch: `open`, then `on_timer` for each timer that is due, then `process` for each batch,
    `on_rows_end`, `on_signal` for each signal, then `close`. Everything that must outlive the micro-batch belongs into
    named state (`context.state`): the next one may run in another process. A micro-batch may be run again after a
    failure, from the state it began with; operators never read the clock or draw random numbers, so that it gives the
    same rows.
    """

    stateless: ClassVar[bool] = False
    """True for an operator whose rows do not depend on each other: its bad rows can be found and set aside."""
    lag_us: int = 0
    """How much earlier than its watermark the event times of the rows may be that it lets out."""

    def open(self, context: Context) -> None:
        """Called before anything else in a micro-batch. The state is what the last committed one left."""
        self.context = context

    @abstractmethod
    def process(self, batch: Batch) -> Iterable[Batch]:
        """Called for each batch, in order; `batch.port` tells the input. What is returned goes on at once.

        Late rows come like all others: `context.is_late` tells which they are. To change values in place, ask for
        `batch.writable()`; to leave by another output than `out`, return `batch.to(port)`.
        """

    def on_timer(self, timer: Timer) -> Iterable[Batch]:
        """Called once for a time that `context.timers` was asked for, when the watermark or clock reached it."""
        return ()

    def on_rows_end(self) -> Iterable[Batch]:
        """Called in every micro-batch after all its rows, and again where signals may have brought more: for rows that
        are told once for each micro-batch, however many batches its rows came in. Operators before this one in the
        chain had theirs."""
        return ()

    def on_signal(self, signal: Signal) -> Iterable[Batch] | None:
        """Called after every row below the signal's cut, and before every row above it: of the kinds `close_window`,
        `refresh_state` and `custom` those for this node, or for all.

        None says that the operator does not handle it; anything else, also no rows, that it did.
        """
        return None

    def close(self) -> None:  # noqa: B027  (most operators have nothing to close)
        """Called when the micro-batch is done, also after a failure. State that was changed here is not kept."""
