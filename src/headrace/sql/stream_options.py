"""Options of a stream that other engines spell in their own way: put into the settings that they stand for.

'error.strategy' = 'drop' | 'retry' | 'dlq' | 'fail'     on_error, as does the older name bad_rows
'event.time.format' = 'iso8601' | 'epoch_millis'         what TIMESTAMP columns are read as anyway
'event.time.format' = 'epoch_seconds' | a pattern        event_time_format
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from headrace.errors import InvalidInput, did_you_mean
from headrace.formats.value_format import READ_ANYWAY
from headrace.operators.topic_source import OLDER_NAME
from headrace.operators.value_formats import check_time_format
from headrace.sql.language.script import Script
from headrace.sql.language.statement_tree import Create
from headrace.sql.language.tree import Name, Option

STRATEGY: Final = "error.strategy"
FORMAT: Final = "event.time.format"
_ON_ERROR: Final = "on_error"
_STRATEGIES: Final = {
    "drop": "drop",
    "retry": "retry",
    "dlq": "dead_letter",
    "dead_letter": "dead_letter",
    "fail": "fail",
}


def in_settings(script: Script, statement: Create) -> Create:
    """The declaration with options that have settings. Raises InvalidSyntax for what none stands for."""
    options = {option.name.text: option for option in statement.options}
    said = options.get(FORMAT)
    if said is not None:
        _check_format(script, statement, said, options)
    needless = [said] if said is not None and said.value in READ_ANYWAY else []
    # The default of the older name: it says nothing about expressions that fail.
    older = options.get(OLDER_NAME)
    needless += [older] if older is not None and older.value == "drop" and len(_said(options)) == 1 else []
    kept = [_on_error(script, option, options) for option in statement.options if option not in needless]
    return replace(statement, options=tuple(kept))


def _on_error(script: Script, option: Option, options: dict[str, Option]) -> Option:
    name = option.name.text
    if name not in _said(options):
        return option
    others = [other for other in _said(options) if other != name]
    if others:
        raise script.error(f"{name} and {others[0]} say the same thing twice", option.span)
    strategy = _STRATEGIES.get(str(option.value).lower())
    if strategy is None:
        hint = did_you_mean(str(option.value), _STRATEGIES)
        raise script.error(
            f"no strategy {option.value!r} for bad rows", option.span, valid=tuple(_STRATEGIES), hint=hint
        )
    return Option(Name(_ON_ERROR, option.name.span), strategy, option.exact, option.span)


def _said(options: dict[str, Option]) -> list[str]:
    return [name for name in (STRATEGY, OLDER_NAME, _ON_ERROR) if name in options]


def _check_format(script: Script, statement: Create, format_: Option, options: dict[str, Option]) -> None:
    """Raises InvalidSyntax unless the event time can be read in this format."""
    field = options.get("event.time.field")
    name = str(field.value) if field else statement.watermark.column.text if statement.watermark else None
    if name is None:
        raise script.error(
            f"{FORMAT} is set, and no column is the event time", format_.span, hint="set event.time.field"
        )
    try:
        check_time_format(str(format_.value))
    except InvalidInput as error:
        raise script.error(error.message, format_.span, valid=error.valid, hint=error.hint) from error
    column = next((one for one in statement.columns if one.name.text.lower() == name.lower()), None)
    if column is not None and column.type not in (None, "TIMESTAMP"):
        hint = f"declare {column.name.text} TIMESTAMP: {FORMAT} says what its values look like"
        raise script.error(f"the event time {column.name.text!r} is {column.type}", column.span, hint=hint)
