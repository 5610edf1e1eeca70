from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from headrace.errors import InvalidInput
from headrace.graph import Json, Schema, canonical, parse_text, print_text, validate
from headrace.operators import (
    BUILT_IN,
    AnyOperator,
    Catalogue,
    CompileContext,
    Operator,
    OperatorConfig,
    Spec,
    load_catalogue,
)
from headrace.operators.docs import operator_page

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVERY = pytest.mark.parametrize("operator", BUILT_IN, ids=lambda operator: operator.spec.name)


class UpperConfig(OperatorConfig):
    column: str


class Upper(Operator[UpperConfig]):
    spec = Spec("upper", "Upper", "Shouts.", "relational", (), (), "None.", "generator ! preview")
    config_type = UpperConfig

    def output_schema(self, config: UpperConfig, inputs: Mapping[str, Schema]) -> Schema:
        return inputs["in"]

    def compile(self, config: UpperConfig, inputs: Mapping[str, DataFrame], context: CompileContext) -> DataFrame:
        return inputs["in"]


class Clash(Upper):
    spec = Spec("filter", "Filter", "Another filter.", "relational", (), (), "None.", "generator ! preview")


class ReservedConfig(OperatorConfig):
    id: str


class Reserved(Upper):
    spec = Spec("reserved", "Reserved", "Takes the builder's word.", "relational", (), (), "None.", "")
    config_type = ReservedConfig  # type: ignore[assignment]


class Broken(Upper):
    def __init__(self) -> None:
        raise RuntimeError("no luck")


instance = Upper()


def plugin(name: str) -> EntryPoint:
    return EntryPoint(name.lower(), f"{__name__}:{name}", "headrace.operators")


@EVERY
def test_every_example_can_run_and_uses_its_operator(operator: AnyOperator) -> None:
    catalogue = Catalogue()
    document = parse_text(operator.spec.example, catalogue)
    validate(document, catalogue)
    assert operator.spec.name in {node.operator for node in document.nodes}
    assert parse_text(print_text(document, catalogue), catalogue) == document == canonical(document, catalogue)


@EVERY
def test_every_setting_and_port_is_described(operator: AnyOperator) -> None:
    assert all(field.description for field in operator.config_type.model_fields.values())
    assert all(port.summary for port in (*operator.spec.inputs, *operator.spec.outputs))
    assert operator.spec.positional is None or operator.spec.positional in operator.settings


# Names that mean the same in every operator that has them, and what forms offer for them.
FORMATS = {
    "condition": "sql-expression",
    "first": "sql-expression",
    "then": "sql-expression",
    "aggregates": "sql-expression",
    "keys": "column",
    "time": "column",
    "carry": "column",
    "features": "column",
    "topic": "topic",
    "dead_letter": "topic",
    "within": "duration",
    "size": "duration",
}


@EVERY
def test_forms_know_what_to_offer_for_a_setting(operator: AnyOperator) -> None:
    settings: dict[str, Json] = operator.config_type.model_json_schema(by_alias=True).get("properties", {})
    for name, setting in settings.items():
        if name in FORMATS:
            assert f'"format": "{FORMATS[name]}"' in json.dumps(setting), name


@EVERY
def test_ports_fit_the_kind(operator: AnyOperator) -> None:
    kind = operator.spec.kind
    assert bool(operator.spec.inputs) == (kind != "source")
    assert bool(operator.spec.outputs) == (kind != "sink")


def test_the_description_is_json_with_the_schema_of_the_settings() -> None:
    described = {str(entry["name"]): entry for entry in json.loads(json.dumps(Catalogue().describe()))}
    assert list(described) == list(Catalogue().names)
    settings = described["topic"]["config_schema"]
    assert settings["required"] == ["topic", "schema"]
    assert settings["properties"]["format"]["enum"] == ["json", "csv", "arrow", "raw", "avro", "protobuf"]
    assert settings["properties"]["max_rows_per_batch"]["exclusiveMinimum"] == 0


@EVERY
def test_every_operator_has_a_page(operator: AnyOperator) -> None:
    page = operator_page(operator)
    assert page.startswith(f"# {operator.spec.title}\n")
    assert operator.spec.guarantees in page
    assert operator.spec.example in page
    assert all(f"| `{setting}` |" in page for setting in operator.settings)


def test_a_page_tells_types_defaults_and_choices() -> None:
    page = operator_page(Catalogue().get("to-topic"))
    assert "| `topic` | text | required |" in page
    assert '| `format` | `json`, `csv`, `arrow`, `raw`, `avro`, `protobuf` | `"json"` |' in page
    assert "| `partitions` | number | – |" in page
    page = operator_page(Catalogue().get("tumbling-window"))
    assert "| `keys` | list of text | `[]` |" in page
    assert "Keeps state" in page


def test_an_unknown_operator_has_near_names() -> None:
    with pytest.raises(InvalidInput, match="unknown operator 'windw'") as caught:
        Catalogue().get("windw")
    assert caught.value.valid == Catalogue().names
    with pytest.raises(InvalidInput) as caught:
        Catalogue().get("slect")
    assert caught.value.hint == "did you mean select?"
    assert "filter" in Catalogue()
    assert "windw" not in Catalogue()


def test_plugins_are_loaded_as_class_or_instance() -> None:
    for name in ("Upper", "instance"):
        catalogue = load_catalogue([plugin(name)])
        assert catalogue.names == (*Catalogue().names, "upper")
        assert catalogue.plugin_problems == ()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Broken", "RuntimeError: no luck"),
        ("Missing", "AttributeError"),
        ("UpperConfig", "is no Operator|ValidationError"),
        ("plugin", "is no Operator"),
        ("Clash", "an operator named 'filter' exists already"),
        ("Reserved", "the setting name 'id' is reserved"),
    ],
)
def test_a_broken_plugin_is_reported_and_the_rest_works(name: str, problem: str) -> None:
    catalogue = load_catalogue([plugin(name), plugin("Upper")])
    (told,) = catalogue.plugin_problems
    assert f"plugin '{name.lower()}'" in told
    assert any(part in told for part in problem.split("|"))
    assert catalogue.names == (*Catalogue().names, "upper")
    assert catalogue.get("filter") in BUILT_IN


def test_a_module_that_cannot_be_imported_is_reported() -> None:
    catalogue = load_catalogue([EntryPoint("gone", "no_such_module:x", "headrace.operators")])
    assert "ModuleNotFoundError" in catalogue.plugin_problems[0]


def test_installed_plugins_are_looked_up() -> None:
    assert set(Catalogue().names) <= set(load_catalogue().names)
