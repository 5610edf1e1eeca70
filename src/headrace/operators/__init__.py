"""The operator catalogue: what a pipeline can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.lazy import exporter

if TYPE_CHECKING:
    from headrace.operators.catalogue import BUILT_IN, AnyOperator, Catalogue, describe
    from headrace.operators.columns import used_columns, used_columns_of
    from headrace.operators.context import CompileContext
    from headrace.operators.docs import operator_page
    from headrace.operators.durations import canonical_duration, duration_ms
    from headrace.operators.keyed_class import KeyedOperator
    from headrace.operators.keyed_entry import entry_of
    from headrace.operators.plugins import WatchedCatalogue, load_catalogue
    from headrace.operators.spec import Kind, Operator, OperatorConfig, Port, Spec
    from headrace.operators.system_columns import SYSTEM_COLUMNS

__all__ = [
    "BUILT_IN",
    "SYSTEM_COLUMNS",
    "AnyOperator",
    "Catalogue",
    "CompileContext",
    "KeyedOperator",
    "Kind",
    "Operator",
    "OperatorConfig",
    "Port",
    "Spec",
    "WatchedCatalogue",
    "canonical_duration",
    "describe",
    "duration_ms",
    "entry_of",
    "load_catalogue",
    "operator_page",
    "used_columns",
    "used_columns_of",
]

# Who reads an expression or a duration must not load all operators.
_NAMES = {
    "catalogue": ("BUILT_IN", "AnyOperator", "Catalogue", "describe"),
    "columns": ("used_columns", "used_columns_of"),
    "context": ("CompileContext",),
    "docs": ("operator_page",),
    "durations": ("canonical_duration", "duration_ms"),
    "keyed_class": ("KeyedOperator",),
    "keyed_entry": ("entry_of",),
    "plugins": ("WatchedCatalogue", "load_catalogue"),
    "spec": ("Kind", "Operator", "OperatorConfig", "Port", "Spec"),
    "system_columns": ("SYSTEM_COLUMNS",),
}
__getattr__ = exporter(__name__, {name: module for module, names in _NAMES.items() for name in names})
