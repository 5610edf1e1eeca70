"""The entry of the catalogue for a keyed class: its spec, settings and checks come from what the class declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from headrace.graph.schema import Schema
from headrace.operators.arrow_types import arrow_schema, schema_from_arrow
from headrace.operators.event_time import check_time, with_event_time
from headrace.operators.keyed_class import KeyedOperator
from headrace.operators.keyed_lane import KeyedLane, RowColumns
from headrace.operators.late_rows import LatePassed, LateTopic, LateTopicConfig, read_beside
from headrace.operators.python_function import check_fits
from headrace.operators.serial_operator import (
    Partitioned,
    PartitionedConfig,
    Partitioner,
    SerialOperator,
    check_keys,
)
from headrace.operators.settings_class import made_settings, with_settings
from headrace.operators.spec import Port, Spec
from headrace.serial import Operator as Instance
from headrace.serial import Partitioning, schema_of

_GUARANTEES = (
    "Rows and timers of a key in order of event time, each once, when the watermark has passed them; the same rows out "
    "however the stream is cut, and in a batch run. Late rows are counted, and become what `late` says; rows without a "
    "time are dropped and counted."
)


class KeyedEntry(SerialOperator[Any]):
    """Made for each keyed class by `entry_of`."""

    work_type: ClassVar[type[KeyedOperator[Any, Any, Any, Any]]]
    # Nobody knows what a class makes of a column.
    keeps_columns = False

    def output_schema(self, config: Any, inputs: Mapping[str, Schema]) -> Schema:
        schema, work = inputs["in"], self.work_type
        check_time(work.event_time, schema)
        check_keys(list(work.declared.keys), schema)
        if work.declared.row_type is not None:
            check_fits(work.declared.row_type, schema)
        return with_event_time(schema_from_arrow(work.declared.output), work.emitted_time)

    def used_columns(
        self, config: Any, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        schema = inputs["in"]
        read = self.work_type.declared.read_columns(self.work_type.event_time)
        own = schema.names if read is None else (schema.require(name).name for name in read)
        return {"in": frozenset(own) | read_beside(config, schema)}

    def partitioning(self, config: Any) -> Partitioning | None:
        if config.partitioned == "by_key":
            return Partitioning("by_key", self.work_type.declared.keys)
        return super().partitioning(config)

    def instance(self, config: Any, schema: Schema) -> Instance:
        declared = self.work_type.declared
        work = self.work_type()
        if declared.settings_type is not None:
            work.settings = made_settings(declared.settings_type, config)
        time = schema.require(self.work_type.event_time).name
        keys = [schema.require(key).name for key in declared.keys]
        read = declared.read_columns(time)
        carried = schema.carried.names if read is None else [schema.require(name).name for name in read]
        types = {field.name: field.type for field in arrow_schema(_only(schema, carried))}
        others = [(name, type_) for name, type_ in types.items() if name not in keys]
        columns = RowColumns([(key, types[key]) for key in keys], others, time)
        return KeyedLane(work, columns, declared.output, keeps_late=config.keeps_late)


def entry_of(work: type[KeyedOperator[Any, Any, Any, Any]]) -> KeyedEntry:
    """Raises InvalidInput for a setting name that the entry itself has."""
    declared = work.declared
    others: dict[str, Any] = {
        "late": (LatePassed, "drop"),
        "dead_letter": (LateTopic, None),
        "partitioned": (Partitioned, "by_key"),
        "partitioner": (Partitioner, None),
    }
    config = with_settings(
        f"{work.__name__}Config", declared.settings_type, (PartitionedConfig, LateTopicConfig), others
    )
    attributes: dict[str, Any] = {"spec": _spec(work), "config_type": config, "work_type": work}
    attributes |= {"api_version": work.api_version, "__module__": work.__module__}
    made: type[KeyedEntry] = type(f"{work.__name__}Entry", (KeyedEntry,), attributes)
    return made()


def _spec(work: type[KeyedOperator[Any, Any, Any, Any]]) -> Spec:
    declared = work.declared
    words = declared.name.replace("-", " ")
    return Spec(
        name=declared.name,
        title=words[:1].upper() + words[1:],
        summary=declared.summary,
        kind="serial",
        inputs=(Port("in", f"rows with {', '.join(declared.keys)} and the event time {work.event_time}"),),
        outputs=(Port("out", "the rows that it emits"),),
        guarantees=_GUARANTEES,
        example=f'topic rows schema="{_example(work)}" event_time={work.event_time} ! {declared.name} ! preview',
        stateful=True,
        adjustable=work.adjustable,
    )


def _example(work: type[KeyedOperator[Any, Any, Any, Any]]) -> str:
    row_type = work.declared.row_type
    if row_type is not None:
        return str(schema_from_arrow(schema_of(row_type)))
    return f"{', '.join(f'{key} STRING' for key in work.declared.keys)}, {work.event_time} TIMESTAMP"


def _only(schema: Schema, names: Any) -> Schema:
    return replace(schema, columns=tuple(schema.require(name) for name in dict.fromkeys(names)))
