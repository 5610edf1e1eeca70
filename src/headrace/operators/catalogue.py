"""The operators that pipelines can use: the built-in ones, named here one by one, and those of plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from headrace.errors import InvalidInput, did_you_mean
from headrace.graph.document import Json
from headrace.operators.aggregate import Aggregate
from headrace.operators.aggregate_latest import AggregateLatest
from headrace.operators.asof_join import AsofJoin
from headrace.operators.cumulate_window import CumulateWindow
from headrace.operators.deduplicate import Deduplicate
from headrace.operators.file_sink import FileSink
from headrace.operators.file_source import FileSource
from headrace.operators.filter import Filter
from headrace.operators.followed_by import FollowedBy
from headrace.operators.gap_window import GapWindow
from headrace.operators.generator_source import GeneratorSource
from headrace.operators.http_lookup import HttpLookup
from headrace.operators.join import Join
from headrace.operators.length_window import LengthWindow
from headrace.operators.lookup_join import LookupJoin
from headrace.operators.output_rate import OutputRate
from headrace.operators.over_latest import OverLatest
from headrace.operators.over_running import OverRunning
from headrace.operators.over_window import OverWindow
from headrace.operators.plugin_folder import in_folder
from headrace.operators.preview import Preview
from headrace.operators.processing_time import ProcessingTime
from headrace.operators.python_function import PythonFunction
from headrace.operators.python_sink import PythonSink
from headrace.operators.python_source import PythonSource
from headrace.operators.score import Score
from headrace.operators.select import Select
from headrace.operators.session_window import SessionWindow
from headrace.operators.sliding_window import SlidingWindow
from headrace.operators.spec import Operator
from headrace.operators.table_sink import TableSink
from headrace.operators.table_source import TableSource
from headrace.operators.time_window import TimeWindow
from headrace.operators.top_n import TopN
from headrace.operators.topic_sink import TopicSink
from headrace.operators.topic_source import TopicSource
from headrace.operators.trigger_source import TriggerSource
from headrace.operators.tumbling_window import TumblingWindow
from headrace.operators.union import Union

AnyOperator: TypeAlias = Operator[Any]

BUILT_IN: tuple[AnyOperator, ...] = (
    TopicSource(),
    GeneratorSource(),
    TriggerSource(),
    FileSource(),
    PythonSource(),
    TableSource(),
    Filter(),
    Select(),
    TumblingWindow(),
    SlidingWindow(),
    CumulateWindow(),
    GapWindow(),
    Aggregate(),
    TopN(),
    AggregateLatest(),
    OverLatest(),
    OverWindow(),
    OverRunning(),
    ProcessingTime(),
    Union(),
    Join(),
    LookupJoin(),
    AsofJoin(),
    Deduplicate(),
    FollowedBy(),
    HttpLookup(),
    LengthWindow(),
    OutputRate(),
    PythonFunction(),
    Score(),
    SessionWindow(),
    TimeWindow(),
    TopicSink(),
    TableSink(),
    FileSink(),
    PythonSink(),
    Preview(),
)


class Catalogue:
    """Operators by name, in the order they were given."""

    def __init__(
        self,
        operators: Iterable[AnyOperator] = BUILT_IN,
        plugin_problems: Iterable[str] = (),
        folder: str | None = None,
    ) -> None:
        """`folder` is the kept copy of the plugin folder that they are from, if they are from one."""
        self._given = {operator.spec.name: operator for operator in operators}
        self._problems = tuple(plugin_problems)
        self.folder = folder

    def kept(self, root: Path, texts: Iterable[str] | None) -> Catalogue:
        """For one start of a pipeline: operators that stay as they are now. Copies of files are kept below `root`.

        `texts` are all settings of the pipeline, where functions of the session are taken by value.
        """
        return self

    def kept_in(self, folder: str) -> Catalogue:
        """Those of a copy that was kept before."""
        return self

    def is_current(self, folder: str | None) -> bool:
        """Whether a copy that was kept before has the same code as a start would take now."""
        return True

    def active(self) -> AbstractContextManager[None]:
        """Inside, functions that settings name are found where these operators are from."""
        return nullcontext() if self.folder is None else in_folder(self.folder)

    @property
    def _operators(self) -> Mapping[str, AnyOperator]:
        return self._given

    @property
    def plugin_problems(self) -> tuple[str, ...]:
        """One sentence for each plugin that could not be loaded."""
        return self._problems

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._operators)

    def __iter__(self) -> Iterator[AnyOperator]:
        return iter(self._operators.values())

    def __contains__(self, name: str) -> bool:
        return name in self._operators

    def get(self, name: str) -> AnyOperator:
        """Raises InvalidInput with near names for an operator that is not there."""
        if name not in self._operators:
            # The operator may be one of a file that cannot be loaded: that is what is to be mended.
            hint = "; ".join(self.plugin_problems) or did_you_mean(name, self.names)
            raise InvalidInput(f"unknown operator {name!r}", valid=self.names, hint=hint)
        return self._operators[name]

    def describe(self) -> list[dict[str, Json]]:
        """What a palette and its forms need, as JSON: one object per operator, with the JSON schema of its settings."""
        return [describe(operator) for operator in self]


def describe(operator: AnyOperator) -> dict[str, Json]:
    spec = operator.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "summary": spec.summary,
        "kind": spec.kind,
        "stateful": spec.stateful,
        "inputs": [{"name": p.name, "summary": p.summary, "required": p.required} for p in spec.inputs],
        "outputs": [{"name": p.name, "summary": p.summary, "required": p.required} for p in spec.outputs],
        "guarantees": spec.guarantees,
        "example": spec.example,
        "positional": spec.positional,
        "config_schema": operator.config_type.model_json_schema(by_alias=True),
    }
