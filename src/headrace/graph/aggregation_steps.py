"""The Python builder's methods for windows and other aggregates in Spark's own plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from headrace.graph.document import Json
from headrace.graph.given import Names, given, listed
from headrace.graph.steps import Emit, Steps

if TYPE_CHECKING:
    from headrace.graph.builder import Stream


class AggregationSteps(Steps):
    """One method for each; the settings are explained by `headrace operators NAME`."""

    def tumbling_window(
        self,
        size: str,
        *,
        time: str,
        keys: Names = (),
        aggregates: Names,
        emit: Emit = "final",
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over fixed, aligned spans of event time."""
        settings: dict[str, Json] = {
            "size": size,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "emit": emit,
        }
        return self.then("tumbling-window", id=id, **given(AggregationSteps.tumbling_window, settings))

    def sliding_window(
        self,
        size: str,
        *,
        every: str,
        time: str,
        keys: Names = (),
        aggregates: Names,
        emit: Emit = "final",
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over aligned spans of event time that overlap."""
        settings: dict[str, Json] = {
            "size": size,
            "every": every,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "emit": emit,
        }
        return self.then("sliding-window", id=id, **given(AggregationSteps.sliding_window, settings))

    def cumulate_window(
        self,
        size: str,
        *,
        step: str,
        time: str,
        keys: Names = (),
        aggregates: Names,
        emit: Emit = "final",
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key since the start of a span of event time, again after every step of it."""
        settings: dict[str, Json] = {
            "size": size,
            "step": step,
            "time": time,
            "keys": listed(keys),
            "aggregates": listed(aggregates),
            "emit": emit,
        }
        return self.then("cumulate-window", id=id, **given(AggregationSteps.cumulate_window, settings))

    def gap_window(self, gap: str, *, time: str, keys: Names, aggregates: Names, id: str | None = None) -> Stream:
        """Any aggregates per key over sessions, each once when it ends."""
        settings: dict[str, Json] = {"time": time, "keys": listed(keys), "aggregates": listed(aggregates)}
        return self.then("gap-window", id=id, gap=gap, **settings)

    def processing_time(self, into: str = "processed_at", *, id: str | None = None) -> Stream:
        """Adds the time at which a row is processed, as the event time of what follows."""
        return self.then("processing-time", id=id, **given(AggregationSteps.processing_time, {"into": into}))

    def aggregate(
        self,
        *aggregates: str,
        keys: Names = (),
        emit: Literal["changes"] = "changes",
        id: str | None = None,
    ) -> Stream:
        """Aggregates per key over all rows so far, a new row whenever they change."""
        chosen = given(AggregationSteps.aggregate, {"keys": listed(keys), "emit": emit})
        return self.then("aggregate", id=id, aggregates=list(aggregates), **chosen)

    def top_n(
        self,
        n: int,
        *,
        by: Names,
        keys: Names = (),
        rank: str | None = None,
        emit: Literal["changes"] = "changes",
        id: str | None = None,
    ) -> Stream:
        """The first rows of each key over all rows so far, a new ranking whenever one came."""
        settings: dict[str, Json] = {"keys": listed(keys), "rank": rank, "emit": emit}
        return self.then("top-n", id=id, n=n, by=listed(by), **given(AggregationSteps.top_n, settings))
