"""Python functions in expressions: found in the plugin folder, checked by their annotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.errors import InvalidGraph, InvalidInput, InvalidSyntax
from headrace.graph.document import Document, Node
from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.functions import calls, placed_functions, python_functions, spark_text
from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.sql import parse

SCHEMA = Schema.parse("n INT, price DOUBLE, name STRING, any BINARY")
CODE = """
from headrace.serial import sql_aggregate, sql_function

@sql_function
def Taxed(price: float, rate: float) -> float:
    return price * (1 + rate)

@sql_aggregate
def spread(values: list[float]) -> float | None:
    return max(values) - min(values)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "money.py").write_text(CODE)
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def selected(item: str) -> str:
    operator = Catalogue().get("select")
    schema = operator.output_schema(operator.configure({"columns": [item]}), {"in": SCHEMA})
    return schema.columns[0].type


def test_a_function_has_the_type_that_it_says_and_is_found_again_when_its_file_changes(folder: Path) -> None:
    assert set(python_functions()) == {"taxed", "spread"}
    assert selected("taxed(n, price) AS t") == "DOUBLE"
    assert selected("TAXED(price, price) > 5 AS t") == "BOOLEAN"
    (folder / "money.py").write_text(CODE.replace("Taxed", "charged"))
    assert set(python_functions()) == {"charged", "spread"}


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("taxed(price) AS t", "takes 2 columns, not 1"),
        ("taxed(name, price) AS t", "takes DOUBLE, DOUBLE, and not STRING, DOUBLE"),
        ("spread(price) AS t", "the aggregate .* cannot stand in a select"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_before_anything_runs(item: str, words: str) -> None:
    with pytest.raises((InvalidInput, InvalidSyntax), match=words):
        selected(item)


def test_an_aggregate_gets_the_values_of_a_group() -> None:
    assert spark_text("spread(price) AS s") == "spread(COLLECT_LIST(price)) AS `s`"
    assert spark_text("`money.py:spread`(price) AS s") == "`money.py:spread`(COLLECT_LIST(price)) AS `s`"
    assert spark_text("sum(price) AS s") == "sum(price) AS s"


def test_rows_share_no_pass_with_a_python_function() -> None:
    operator = Catalogue().get("filter")
    assert operator.row_step(operator.configure({"condition": "taxed(price, 1) > 2"}), SCHEMA) is None
    assert operator.row_step(operator.configure({"condition": "price > 2"}), SCHEMA) is not None


def test_sql_knows_it() -> None:
    text = """CREATE STREAM s (price DOUBLE) WITH (topic = 's');
    CREATE STREAM t WITH (topic = 't') AS SELECT {}(price, 0.5e0) AS total FROM s;"""
    assert parse(text.format("taxed"), "p").nodes
    with pytest.raises((InvalidSyntax, InvalidGraph), match="unknown function"):
        parse(text.format("vexed"), "p")


def test_a_function_is_found_at_its_place(folder: Path) -> None:
    assert selected("`money.py:Taxed`(n, price) AS t") == "DOUBLE"
    (folder / "plain.py").write_text("def half(x: float) -> float:\n    return x / 2\n")
    assert selected("`plain.py:half`(price) AS h") == "DOUBLE"
    assert selected("`headrace.operators.samples:fahrenheit`(price) AS f") == "DOUBLE"
    nodes = (
        Node("a", "filter", {"condition": "`plain.py:half`(price) > 1"}),
        Node("b", "x", {"y": [{"z": "half(1)"}]}),
    )
    assert placed_functions(Document("p", nodes)).keys() == {"plain.py:half"}
    assert [node.id for node in nodes if calls(node, "half")] == ["a", "b"]
    assert not calls(nodes[0], "hal")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("money.py:vexed", "money.py has no 'vexed'"),
        ("monet.py:taxed", "the plugin folder has no file 'monet.py'"),
        ("../money.py:taxed", "the plugin folder has no file"),
        ("broken.py:taxed", "broken.py cannot be imported: ZeroDivisionError"),
        ("no.such.module:taxed", "the module 'no.such.module' cannot be imported"),
        ("math:pi", "math:pi is no function for SQL"),
    ],
)
def test_what_is_at_no_place_is_told(place: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        selected(f"`{place}`(price) AS t")
