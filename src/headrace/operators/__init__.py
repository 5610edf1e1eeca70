"""The operator catalogue: what a pipeline can be made of."""

from headrace.operators.catalogue import BUILT_IN, AnyOperator, Catalogue, describe
from headrace.operators.columns import used_columns, used_columns_of
from headrace.operators.context import CompileContext
from headrace.operators.docs import operator_page
from headrace.operators.durations import canonical_duration, duration_ms
from headrace.operators.plugins import WatchedCatalogue, load_catalogue
from headrace.operators.spec import Kind, Operator, OperatorConfig, Port, Spec
from headrace.operators.system_columns import SYSTEM_COLUMNS

__all__ = [
    "BUILT_IN",
    "SYSTEM_COLUMNS",
    "AnyOperator",
    "Catalogue",
    "CompileContext",
    "Kind",
    "Operator",
    "OperatorConfig",
    "Port",
    "Spec",
    "WatchedCatalogue",
    "canonical_duration",
    "describe",
    "duration_ms",
    "load_catalogue",
    "operator_page",
    "used_columns",
    "used_columns_of",
]
