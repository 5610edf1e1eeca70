"""The Python builder's methods for serial operators: Python in the stream, with state by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from headrace.graph.document import Json
from headrace.graph.given import Names, given, listed
from headrace.graph.steps import Emit, Steps

if TYPE_CHECKING:
    from headrace.graph.builder import Stream

Partitioned: TypeAlias = Literal["by_key", "as_topic", "custom"]
Spread: TypeAlias = Literal["as_topic", "round_robin", "custom"]
OnError: TypeAlias = Literal["fail", "drop", "dead_letter"]
Late: TypeAlias = Literal["drop", "dead_letter", "include_in_next_window", "update_previous"]

LatePassed: TypeAlias = Literal["drop", "dead_letter"]


class SerialSteps(Steps):
    """One method for each serial operator; the settings are explained by `headrace operators NAME`."""

    def length_window(
        self,
        length: int,
        *,
        keys: Names = (),
        aggregates: Names,
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Adds to every row aggregates over the last rows of its key."""
        settings: dict[str, Json] = {
            "length": length,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("length-window", id=id, **given(SerialSteps.length_window, settings))

    def time_window(
        self,
        size: str,
        *,
        every: str | None = None,
        step: str | None = None,
        time: str,
        keys: Names = (),
        aggregates: Names,
        emit: Emit = "final",
        late: Late = "drop",
        late_for: str | None = None,
        dead_letter: str | None = None,
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over spans of event time that tumble, hop or grow."""
        settings: dict[str, Json] = {
            "size": size,
            "every": every,
            "step": step,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "emit": emit,
            "late": late,
            "late_for": late_for,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("time-window", id=id, **given(SerialSteps.time_window, settings))

    def aggregate_latest(
        self,
        *ids: str,
        keys: Names = (),
        aggregates: Names,
        emit: Literal["changes"] = "changes",
        partitioned: Partitioned = "by_key",
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over the latest row of each id: for rows that are changes."""
        settings: dict[str, Json] = {"keys": listed(keys), "emit": emit, "partitioned": partitioned}
        chosen = given(SerialSteps.aggregate_latest, settings)
        return self.then("aggregate-latest", id=id, ids=list(ids), aggregates=listed(aggregates), **chosen)

    def over_latest(
        self,
        *ids: str,
        by: Names,
        rows: int,
        keys: Names = (),
        aggregates: Names,
        partitioned: Partitioned = "by_key",
        id: str | None = None,
    ) -> Stream:
        """Adds to every row aggregates over the rows of its key before it: for rows that are changes."""
        settings: dict[str, Json] = {"keys": listed(keys), "partitioned": partitioned}
        needed: dict[str, Json] = {"by": listed(by), "rows": rows, "aggregates": listed(aggregates)}
        return self.then("over-latest", id=id, ids=list(ids), **needed, **given(SerialSteps.over_latest, settings))

    def over_window(
        self,
        *,
        rows: int | None = None,
        within: str | None = None,
        time: str,
        keys: Names = (),
        aggregates: Names,
        late: LatePassed = "drop",
        dead_letter: str | None = None,
        partitioned: Partitioned = "by_key",
        id: str | None = None,
    ) -> Stream:
        """Adds to every row aggregates over the rows of its key before it, in the order of event time."""
        settings: dict[str, Json] = {
            "rows": rows,
            "within": within,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "late": late,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
        }
        return self.then("over-window", id=id, **given(SerialSteps.over_window, settings))

    def over_running(
        self,
        *,
        time: str,
        keys: Names = (),
        functions: Names,
        frame: Literal["range", "rows"] = "range",
        late: LatePassed = "drop",
        dead_letter: str | None = None,
        partitioned: Partitioned = "by_key",
        id: str | None = None,
    ) -> Stream:
        """Adds to every row running totals, numbers, or values of rows before it, in the order of event time."""
        settings: dict[str, Json] = {
            "time": time,
            "keys": listed(keys),
            "functions": listed(functions),
            "frame": frame,
            "late": late,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
        }
        return self.then("over-running", id=id, **given(SerialSteps.over_running, settings))

    def output_rate(
        self,
        *,
        which: Literal["first", "last", "all", "snapshot"],
        rows: int | None = None,
        every: str | None = None,
        keys: Names = (),
        late: LatePassed = "drop",
        dead_letter: str | None = None,
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Lets the first or the last row of every so many through, or of every span of time."""
        settings: dict[str, Json] = {
            "which": which,
            "rows": rows,
            "every": every,
            "keys": listed(keys),
            "late": late,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("output-rate", id=id, **given(SerialSteps.output_rate, settings))

    def session_window(
        self,
        gap: str,
        *,
        time: str,
        keys: Names = (),
        aggregates: Names,
        emit: Emit = "final",
        late: Late = "drop",
        late_for: str | None = None,
        dead_letter: str | None = None,
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over rows that follow each other closely."""
        settings: dict[str, Json] = {
            "gap": gap,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "emit": emit,
            "late": late,
            "late_for": late_for,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("session-window", id=id, **given(SerialSteps.session_window, settings))

    def followed_by(
        self,
        *,
        first: str,
        then: str,
        within: str,
        time: str,
        keys: Names = (),
        absent: bool = False,
        carry: Names = (),
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Finds rows that another one of the same key follows in time, or does not."""
        settings: dict[str, Json] = {
            "first": first,
            "then": then,
            "within": within,
            "time": time,
            "keys": listed(keys),
            "absent": absent,
            "carry": listed(carry),
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("followed-by", id=id, **given(SerialSteps.followed_by, settings))

    def deduplicate(
        self,
        keys: Names,
        *,
        within: str | None = None,
        time: str | None = None,
        partitioned: Partitioned = "by_key",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Lets the first row of each key through and drops the others."""
        settings: dict[str, Json] = {
            "keys": listed(keys),
            "within": within,
            "time": time,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("deduplicate", id=id, **given(SerialSteps.deduplicate, settings))

    def python(
        self,
        function: str,
        *,
        settings: dict[str, Json] | None = None,
        on_error: OnError = "fail",
        retries: int = 0,
        dead_letter: str | None = None,
        partitioned: Spread = "as_topic",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Calls a Python function, named `package.module:name`, for every row or batch; `settings` are what it takes
        beside rows."""
        config: dict[str, Json] = {
            "function": function,
            "settings": settings,
            "on_error": on_error,
            "retries": retries,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("python", id=id, **given(SerialSteps.python, config))

    def score(
        self,
        model: str,
        *,
        features: Names,
        into: str = "score",
        on_error: OnError = "fail",
        retries: int = 0,
        dead_letter: str | None = None,
        partitioned: Spread = "as_topic",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Adds what a Python model, named `package.module:name`, predicts for every row."""
        settings: dict[str, Json] = {
            "model": model,
            "features": listed(features),
            "into": into,
            "on_error": on_error,
            "retries": retries,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("score", id=id, **given(SerialSteps.score, settings))

    def http_lookup(
        self,
        url: str,
        *,
        into: str = "response",
        in_flight: int = 16,
        timeout: str = "10 seconds",
        missing: Sequence[int] = (404,),
        on_error: OnError = "fail",
        retries: int = 0,
        dead_letter: str | None = None,
        partitioned: Spread = "as_topic",
        partitioner: str | None = None,
        id: str | None = None,
    ) -> Stream:
        """Adds to every row the answer of a web service."""
        settings: dict[str, Json] = {
            "url": url,
            "into": into,
            "in_flight": in_flight,
            "timeout": timeout,
            "missing": list(missing),
            "on_error": on_error,
            "retries": retries,
            "dead_letter": dead_letter,
            "partitioned": partitioned,
            "partitioner": partitioner,
        }
        return self.then("http-lookup", id=id, **given(SerialSteps.http_lookup, settings))
