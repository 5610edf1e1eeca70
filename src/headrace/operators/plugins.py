"""Operators from other packages, by entry point. A broken one is reported; it never keeps the rest from working."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from headrace.operators.catalogue import BUILT_IN, AnyOperator, Catalogue
from headrace.operators.config import setting_names
from headrace.operators.spec import Operator

ENTRY_POINT_GROUP = "headrace.operators"
RESERVED_SETTINGS = ("id",)  # the builder's own keyword


def load_catalogue(found: Iterable[EntryPoint] | None = None) -> Catalogue:
    """The built-in operators and those of installed plugins; `plugin_problems` says what could not be loaded."""
    operators: dict[str, AnyOperator] = {operator.spec.name: operator for operator in BUILT_IN}
    problems: list[str] = []
    for entry_point in entry_points(group=ENTRY_POINT_GROUP) if found is None else found:
        try:
            operator = _load(entry_point)
        except Exception as error:
            problems.append(f"plugin {entry_point.name!r} ({entry_point.value}): {type(error).__name__}: {error}")
            continue
        if operator.spec.name in operators:
            problems.append(f"plugin {entry_point.name!r}: an operator named {operator.spec.name!r} exists already")
        else:
            operators[operator.spec.name] = operator
    return Catalogue(operators.values(), problems)


def _load(entry_point: EntryPoint) -> AnyOperator:
    loaded = entry_point.load()
    operator = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(operator, Operator):
        raise TypeError(f"{loaded!r} is no Operator")
    for setting in setting_names(operator.config_type):
        if setting in RESERVED_SETTINGS:
            raise ValueError(f"the setting name {setting!r} is reserved")
    return operator
