"""Sends the fleet's telemetry at a steady rate, from a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Final

from headrace.demo.fleet import Event, Fleet
from headrace.demo.pipelines import TELEMETRY
from headrace.errors import HeadraceError
from headrace.kafka import Sender

TICK_S: Final = 0.02
# After a broker's absence the missed time is not caught up beyond this.
CATCH_UP_S: Final = 0.5
# Bounds how far apart, in event time, records of different partitions can be.
IN_FLIGHT_MAX: Final = 500


class Feed(threading.Thread):
    """Runs until `finish`, or until `count_max` events were sent."""

    def __init__(self, bootstrap: str, fleet: Fleet, rate_per_s: float, count_max: int | None = None) -> None:
        super().__init__(name="demo-feed", daemon=True)
        self.fleet = fleet
        self._rate_per_s = rate_per_s
        self._events: Iterator[Event] = islice(fleet.events(), count_max)
        self._sender = Sender(bootstrap, client_id="headrace-demo", in_flight_max=IN_FLIGHT_MAX)
        self._stop_asked = threading.Event()
        self._failure: HeadraceError | None = None
        self.event_count = 0

    @property
    def acked(self) -> int:
        """Acknowledged records: telemetry, and closing events once those are sent."""
        return self._sender.acked

    def check(self) -> None:
        """Raises the error that ended the feed, if one did."""
        if self._failure is not None:
            raise self._failure

    def finish(self) -> int:
        """Stops sending; how many events were sent, all of them acknowledged. Raises ExternalFailure."""
        self._stop_asked.set()
        self.join()
        self.check()
        self._sender.flush()
        return self.event_count

    def close_windows(self, index: int) -> None:
        """Sends one event from far in the future; only after `finish`."""
        event = self.fleet.closing_event(index, self.event_count)
        self._sender.send(TELEMETRY, event.to_json(), event.drone.encode())
        self._sender.flush()

    def run(self) -> None:
        try:
            self._run()
        except HeadraceError as error:
            self._failure = error

    def _run(self) -> None:
        due = 0.0
        before_s = time.monotonic()
        while not self._stop_asked.wait(TICK_S):
            now_s = time.monotonic()
            due = min(due + (now_s - before_s) * self._rate_per_s, CATCH_UP_S * self._rate_per_s)
            before_s = now_s
            wanted, sent = int(due), self.event_count
            for event in islice(self._events, wanted):
                self._sender.send(TELEMETRY, event.to_json(), event.drone.encode())
                self.event_count += 1
            if self.event_count < sent + wanted:
                return
            due -= wanted
