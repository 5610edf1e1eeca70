"""What `CREATE STREAM … WITH (connector = …, option = value)` stands for: operators and their settings."""

from __future__ import annotations

from typing import Any, get_args

from headrace.errors import InvalidInput, did_you_mean
from headrace.graph.document import Json
from headrace.operators.catalogue import AnyOperator, Catalogue
from headrace.operators.config import setting_names
from headrace.sql.language.pointers import OPTIONS
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import Create
from headrace.sql.language.tree import Option

DEFAULT_CONNECTOR = "topic"
# What CREATE TABLE stands for; no stream has it.
TABLE_CONNECTOR = "table"
# What CREATE TRIGGER stands for.
TRIGGER_CONNECTOR = "trigger"

# Connector → the operator that reads and the one that writes.
_BUILT_IN: dict[str, tuple[str | None, str | None]] = {
    "topic": ("topic", "to-topic"),
    "file": ("file", "to-file"),
    "generator": ("generator", None),
    "preview": (None, "preview"),
    TABLE_CONNECTOR: ("table", "to-table"),
}
# Settings that SQL spells in another way.
_SPELLED = {
    "event_time": "event.time.field",
    "event_time_format": "event.time.format",
    "dead_letter": "dead_letter.topic",
    "value_schema": "value.schema",
    "value_message": "value.message",
    "schema_registry": "schema.registry",
}
_SETTINGS = {option: setting for setting, option in _SPELLED.items()}


def option_name(setting: str) -> str:
    """How SQL spells a setting."""
    return _SPELLED.get(setting, setting)


def setting_name(option: str) -> str:
    return _SETTINGS.get(option, option)


def connector_of(operator: str) -> str:
    """The connector that stands for a source or a sink; that of a plugin is named like its operator."""
    return next((name for name, pair in _BUILT_IN.items() if operator in pair), operator)


class Connector:
    """The two ends that a declaration may have: a source where it is read, a sink where it is written."""

    def __init__(self, script: Script, statement: Create, catalogue: Catalogue) -> None:
        self._script = script
        self._statement = statement
        named = None if statement.is_table else next((o for o in statement.options if o.name.text == "connector"), None)
        self._option = named
        self.name = DEFAULT_CONNECTOR if named is None else str(named.value)
        if statement.is_table:
            self.name = TABLE_CONNECTOR
        self.source, self.sink = self._operators(catalogue)

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return "table" if self._statement.is_table else f"{self.name} stream"

    def settings(self, operator: AnyOperator, other: AnyOperator | None) -> dict[str, Json]:
        """The options as settings of one end. Raises InvalidSyntax for one that neither it nor the other end has."""
        names = setting_names(operator.config_type)
        known = {*names, *(setting_names(other.config_type) if other else ())}
        settings: dict[str, Json] = {}
        for option in self._statement.options:
            setting = setting_name(option.name.text)
            if option is self._option:
                continue
            if setting not in known:
                use = "" if other else " that is only read" if operator is self.source else " that is only written"
                raise self._unknown(option, use, [option_name(name) for name in sorted(known)])
            if setting in names:
                settings[setting] = option.value if option.exact else _converted(operator, setting, option.value)
        return settings

    def _operators(self, catalogue: Catalogue) -> tuple[AnyOperator | None, AnyOperator | None]:
        if self.name in _BUILT_IN and (self.name != TABLE_CONNECTOR or self._statement.is_table):
            reads, writes = _BUILT_IN[self.name]
            return (catalogue.get(reads) if reads else None), (catalogue.get(writes) if writes else None)
        try:
            operator = catalogue.get(self.name)
        except InvalidInput as error:
            raise self._unknown_connector(catalogue) from error
        if operator.spec.kind not in ("source", "sink"):
            raise self._unknown_connector(catalogue)
        return (operator, None) if operator.spec.kind == "source" else (None, operator)

    def _unknown_connector(self, catalogue: Catalogue) -> Exception:
        ends = [operator.spec.name for operator in catalogue if operator.spec.kind in ("source", "sink")]
        built_in = {name for pair in _BUILT_IN.values() for name in pair}
        valid = (
            *(name for name in _BUILT_IN if name != TABLE_CONNECTOR),
            *(name for name in ends if name not in built_in),
        )
        span = self._option.span if self._option else self._statement.name.span
        is_kafka = self.name.lower() in ("kafka", "upsert-kafka")
        hint = "leave it out: a stream is a topic" if is_kafka else did_you_mean(self.name, valid)
        return self._script.error(f"unknown connector {self.name!r}", span, valid=valid, hint=hint)

    def _unknown(self, option: Option, use: str, valid: list[str]) -> Exception:
        name = option.name.text
        message = f"unknown option {name!r} for a {self.kind}{use}"
        hint = OPTIONS.get(name.lower()) or did_you_mean(name, valid)
        return self._script.error(message, option.name.span, valid=tuple(valid), hint=hint)


def _converted(operator: AnyOperator, setting: str, value: Json) -> Json:
    """A number or a truth value that was written in quotes, as other engines want it."""
    if not isinstance(value, str):
        return value
    types = _types(operator, setting)
    if str in types:
        return value
    if int in types and value.isdecimal():
        return int(value)
    if bool in types and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value


def _types(operator: AnyOperator, setting: str) -> set[Any]:
    fields = {field.alias or name: field for name, field in operator.config_type.model_fields.items()}
    annotation = fields[setting].annotation
    return {annotation, *get_args(annotation)}
