"""Operators of plugins have no SQL of their own, and can still be said in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import Field

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Edge, Node
from headrace.graph.schema import Column, Schema
from headrace.operators import BUILT_IN, Catalogue, Kind, Operator, OperatorConfig, Port, Spec
from headrace.sql import parse, print_sql


def spec(name: str, kind: Kind, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Spec:
    ports = [tuple(Port(port, required=port != "late") for port in ports) for ports in (inputs, outputs)]
    return Spec(name, name, name, kind, ports[0], ports[1], guarantees="None.", example="")


class NoConfig(OperatorConfig):
    pass


class TickerConfig(OperatorConfig):
    symbols: list[str] = Field(min_length=1)
    weights: dict[str, float] = Field({})


class Ticker(Operator[TickerConfig]):
    spec = spec("ticker", "source", (), ("out",))
    config_type = TickerConfig

    def output_schema(self, config: TickerConfig, inputs: Mapping[str, Schema]) -> Schema:
        return Schema((Column("symbol", "STRING"), Column("price", "DOUBLE")))

    def compile(self, config: TickerConfig, inputs: Mapping[str, Any], context: Any) -> Any:
        raise NotImplementedError


class Both(Operator[NoConfig]):
    spec = spec("both-ways", "relational", ("left", "right"), ("out", "late"))
    config_type = NoConfig

    def output_schema(self, config: NoConfig, inputs: Mapping[str, Schema]) -> Schema:
        return inputs["left"]

    def compile(self, config: NoConfig, inputs: Mapping[str, Any], context: Any) -> Any:
        raise NotImplementedError


class Nowhere(Operator[NoConfig]):
    spec = spec("to-nowhere", "sink", ("in",), ())
    config_type = NoConfig

    def output_schema(self, config: NoConfig, inputs: Mapping[str, Schema]) -> Schema:
        return inputs["in"]

    def compile(self, config: NoConfig, inputs: Mapping[str, Any], context: Any) -> Any:
        raise NotImplementedError


CATALOGUE = Catalogue((*BUILT_IN, Ticker(), Both(), Nowhere()))

DOCUMENT = Document(
    "plugged",
    (
        Node("ticks", "ticker", {"symbols": ["a", "b"], "weights": {"a": 0.5}}),
        Node("dear", "filter", {"condition": "price > 5"}),
        Node("joined", "both-ways"),
        Node("gone", "to-nowhere"),
        Node("late", "preview"),
    ),
    (
        Edge("ticks", "dear"),
        Edge("ticks", "joined", target_port="left"),
        Edge("dear", "joined", target_port="right"),
        Edge("joined", "gone"),
        Edge("joined", "late", source_port="late"),
    ),
)

SQL = """\
-- @name plugged

CREATE STREAM ticks WITH (
  connector = 'ticker',
  symbols = ARRAY['a', 'b'],
  weights = JSON '{"a": 0.5}'
);

CREATE VIEW dear AS
SELECT *
FROM ticks
WHERE price > 5;

CREATE VIEW joined AS
SELECT *
FROM `both-ways`(right => TABLE dear, left => TABLE ticks);

CREATE STREAM gone WITH (connector = 'to-nowhere');
INSERT INTO gone
SELECT *
FROM joined;

CREATE STREAM late WITH (connector = 'preview');
INSERT INTO late
SELECT *
FROM joined.late;
"""


def test_plugins_are_printed_and_read() -> None:
    assert print_sql(DOCUMENT, catalogue=CATALOGUE) == SQL
    assert parse(SQL, catalogue=CATALOGUE) == DOCUMENT


def test_an_absent_plugin_is_named() -> None:
    with pytest.raises(InvalidSyntax, match="unknown connector 'ticker'"):
        parse(SQL)


def test_the_connectors_of_plugins_are_among_the_valid_ones() -> None:
    with pytest.raises(InvalidSyntax) as caught:
        parse("CREATE STREAM x WITH (connector = 'tickr')", catalogue=CATALOGUE)
    assert caught.value.valid[:4] == ("topic", "file", "generator", "preview")
    assert {"ticker", "to-nowhere"} < set(caught.value.valid)
    assert caught.value.hint == "did you mean ticker or topic?"
