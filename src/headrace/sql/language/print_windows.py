"""The WINDOW clause in the one notation that is printed: `WINDOW SLIDING(ts, 10 MINUTES, 2 MINUTES)`."""

from __future__ import annotations

from headrace.sql.language.print_expressions import ExpressionPrinter, printed_duration
from headrace.sql.language.tree import Name, SortKey, Window, WindowValue
from headrace.sql.language.values import print_name, print_string, print_value
from headrace.sql.language.window_kinds import CLOCK, WINDOW_KINDS, Parameter


def print_window(window: Window, expressions: ExpressionPrinter) -> str:
    time = [print_name(window.time.text)] if window.time else [CLOCK] if window.by_clock else []
    parameters = {parameter.name: parameter for parameter in WINDOW_KINDS[window.kind.lower()].parameters}
    values = [_value(parameters[name], value, expressions) for name, value in window.settings]
    return f"WINDOW {window.kind.upper()}({', '.join([*time, *values])})"


def _value(parameter: Parameter, value: WindowValue, expressions: ExpressionPrinter) -> str:
    if isinstance(value, tuple):
        return ", ".join(_part(part, expressions) for part in value)
    if isinstance(value, str):
        return printed_duration(value) if parameter.type == "duration" else print_string(value)
    return print_value(value)


def _part(part: Name | SortKey, expressions: ExpressionPrinter) -> str:
    return print_name(part.text) if isinstance(part, Name) else expressions.sort_keys((part,))
