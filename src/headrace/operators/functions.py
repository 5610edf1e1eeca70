"""The Python functions that expressions may call: of the plugin folder, and of installed packages by entry point.

They are the same for the whole process, as what is installed is; a file that changes is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Final

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.schema import NUMERIC, UNKNOWN
from headrace.operators.arrow_types import type_name
from headrace.operators.plugin_folder import folder_signature, functions_in, plugin_files
from headrace.serial.sql_functions import SqlFunction

FUNCTION_GROUP: Final = "headrace.functions"

_WIDENING: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")


def python_functions() -> Mapping[str, SqlFunction]:
    """By name, in lower case. What cannot be loaded is left out: the catalogue tells of it."""
    return _loaded(folder_signature())


def python_function(tree: exp.Expr) -> SqlFunction | None:
    """The Python function that a call in an expression means."""
    return python_functions().get(tree.name.lower()) if isinstance(tree, exp.Anonymous) else None


def calls_python(tree: exp.Expr) -> bool:
    return any(python_function(call) is not None for call in tree.find_all(exp.Anonymous))


def result_type(function: SqlFunction) -> str:
    return type_name(function.gives)


def check_call(function: SqlFunction, types: list[str]) -> None:
    """Raises InvalidInput where the arguments are not what the function takes."""
    wanted = [type_name(type_) for type_ in function.takes]
    if len(types) != len(wanted):
        raise InvalidInput(f"{function.name} takes {len(wanted)} columns, not {len(types)}")
    for found, expected in zip(types, wanted, strict=True):
        if not _fits(found, expected):
            raise InvalidInput(f"{function.name} takes {', '.join(wanted)}, and not {', '.join(types)}")


def spark_text(text: str) -> str:
    """An aggregate as Spark runs it, on streams too: one in Python is a function of the list of a group's values."""
    from headrace.operators.expressions import parse_expression  # noqa: PLC0415  (it asks for functions itself)

    expression = parse_expression(text)
    if not calls_python(expression.tree):
        return text
    written = expression.tree.transform(_collected).sql(dialect="spark")
    return written if expression.alias is None else f"{written} AS `{expression.alias}`"


def _collected(tree: exp.Expr) -> exp.Expr:
    function = python_function(tree)
    if function is None or function.kind != "aggregate":
        return tree
    return exp.Anonymous(this=tree.name, expressions=[exp.ArrayAgg(this=tree.expressions[0])])


def _fits(found: str, expected: str) -> bool:
    if UNKNOWN in (found, expected) or found == expected:
        return True
    if found in NUMERIC and expected in NUMERIC:
        return _WIDENING.index(found) <= _WIDENING.index(expected)
    return found.startswith("DECIMAL") and expected == "DOUBLE"


@lru_cache(maxsize=4)
def _loaded(_: tuple[tuple[str, int], ...]) -> Mapping[str, SqlFunction]:
    found: dict[str, SqlFunction] = {}
    for entry_point in entry_points(group=FUNCTION_GROUP):
        try:
            function = entry_point.load()
        except Exception:  # noqa: S112  (a broken package must not keep the others from working)
            continue
        if isinstance(function, SqlFunction):
            found[function.name] = function
    for path in plugin_files():
        try:
            found.update({function.name: function for function in functions_in(path)})
        except Exception:  # noqa: S112
            continue
    return found
