"""Settings without their spelling: `count(*)` and `COUNT( * )` are one text here, so that versions can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlglot import exp

from headrace.errors import HeadraceError
from headrace.graph.document import Config, Json
from headrace.operators.config import OperatorConfig
from headrace.operators.expressions import parse_expression
from headrace.operators.spec import Operator

EXPRESSION_FORMAT = "sql-expression"


def unspelled(config: Config, operator: Operator[Any]) -> dict[str, Json]:
    """The canonical config with one text for each meaning of an expression. For comparisons only, never to be run."""
    try:
        canonical = operator.canonical_config(operator.configure(config))
    except HeadraceError:
        # Of a release that had other settings: compared as it is written.
        return dict(config)
    config_type: type[OperatorConfig] = operator.config_type
    expressions = _expressions(config_type)
    return {name: _unspelled(value) if name in expressions else value for name, value in canonical.items()}


def unspelled_expression(text: str) -> str:
    """One text for all spellings of an expression. The name of its result is kept as it is: rows carry it."""
    try:
        found = parse_expression(text)
    except HeadraceError:
        return text
    tree = found.tree.copy()
    for column in tree.find_all(exp.Column):
        for part in column.parts:
            part.replace(exp.to_identifier(part.name.lower(), quoted=True))
    shown = tree.sql("spark", normalize_functions="upper", comments=False)
    return shown if found.name is None else f"{shown} AS {found.name}"


def _unspelled(value: Json) -> Json:
    if isinstance(value, str):
        return unspelled_expression(value)
    return [_unspelled(item) for item in value] if isinstance(value, list) else value


@lru_cache(maxsize=256)
def _expressions(config_type: type[OperatorConfig]) -> frozenset[str]:
    """Names of the settings that hold SQL expressions."""
    properties: Mapping[str, Mapping[str, Any]] = config_type.model_json_schema().get("properties", {})
    return frozenset(name for name, schema in properties.items() if _holds_expressions(schema))


def _holds_expressions(schema: Mapping[str, Any]) -> bool:
    parts = [schema, schema.get("items", {}), *schema.get("anyOf", ())]
    return any(part.get("format") == EXPRESSION_FORMAT for part in parts)
