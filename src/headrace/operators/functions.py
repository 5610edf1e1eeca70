"""The Python functions that expressions may call.

By a plain name those of the plugin folder, and of installed packages by entry point: taxed(price). By its place any
function of a module or of a file in the folder, so that an expression says all about it: `shop.tax:taxed`(price).
They are the same for the whole process, as what is installed is; a file that changes is read again.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Final

from sqlglot import exp

from headrace.errors import InvalidInput
from headrace.graph.document import Document, Node, texts_in
from headrace.graph.schema import NUMERIC, UNKNOWN
from headrace.operators.arrow_types import type_name
from headrace.operators.imports import load_object
from headrace.operators.plugin_folder import folder_signature, functions_in, load_member, plugin_files
from headrace.serial.sql_functions import SqlFunction, sql_function

FUNCTION_GROUP: Final = "headrace.functions"

# Between the module or the file of a function and its name.
PLACE_MARK: Final = ":"
PLACED_KEPT: Final = 1_024
_PLACED_CALL: Final = re.compile(r"`([^`]+:[^`:]+)`\s*\(")

_WIDENING: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")


def python_functions() -> Mapping[str, SqlFunction]:
    """By name, in lower case. What cannot be loaded is left out: the catalogue tells of it."""
    return _loaded(folder_signature())


def find_function(name: str) -> SqlFunction | None:
    """The Python function of a name, or at a place. Raises InvalidInput for a place where none can be loaded."""
    if PLACE_MARK in name:
        return _placed(name, folder_signature())
    return python_functions().get(name.lower())


def placed_functions(document: Document) -> Mapping[str, SqlFunction]:
    """The functions that a pipeline calls by their places. Raises InvalidInput for what cannot be loaded."""
    texts = [text for node in document.nodes for text in texts_in(node.config)]
    return {place: _placed(place, folder_signature()) for text in texts for place in _PLACED_CALL.findall(text)}


def calls(node: Node, function: str) -> bool:
    """Whether an expression of a node calls a Python function, by its name or its place."""
    call = re.compile(rf"\b{re.escape(function)}`?\s*\(", re.IGNORECASE)
    return any(call.search(text) for text in texts_in(node.config))


def python_function(tree: exp.Expr) -> SqlFunction | None:
    """The Python function that a call in an expression means. Raises InvalidInput as `find_function` does."""
    return find_function(tree.name) if isinstance(tree, exp.Anonymous) else None


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
    # Modules and files are found in their own spelling only.
    written = expression.tree.transform(_collected).sql(dialect="spark", normalize_functions=False)
    return written if expression.alias is None else f"{written} AS `{expression.alias}`"


def _collected(tree: exp.Expr) -> exp.Expr:
    function = python_function(tree)
    if function is None or function.kind != "aggregate":
        return tree
    return exp.Anonymous(this=tree.this, expressions=[exp.ArrayAgg(this=tree.expressions[0])])


def _fits(found: str, expected: str) -> bool:
    if UNKNOWN in (found, expected) or found == expected:
        return True
    if found in NUMERIC and expected in NUMERIC:
        return _WIDENING.index(found) <= _WIDENING.index(expected)
    return found.startswith("DECIMAL") and expected == "DOUBLE"


@lru_cache(maxsize=PLACED_KEPT)
def _placed(place: str, _: tuple[tuple[str, int], ...]) -> SqlFunction:
    holder, name = place.rsplit(PLACE_MARK, 1)
    found = load_member(holder, name) if holder.endswith(".py") else load_object(place)
    if isinstance(found, SqlFunction):
        return found
    if not inspect.isfunction(found):
        raise InvalidInput(f"{place} is no function for SQL", hint="decorate one with @sql_function or @sql_aggregate")
    return sql_function(found)


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
