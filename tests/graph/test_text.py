from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput, InvalidSyntax
from headrace.graph import Document, Edge, Node
from headrace.graph.chains import take_apart
from headrace.graph.testing import documents
from headrace.graph.text import parse_text, print_text
from headrace.graph.text.tokens import MAX_TEXT_CHARACTERS
from headrace.operators import Catalogue

CATALOGUE = Catalogue()


def parse(text: str) -> Document:
    return parse_text(text, CATALOGUE)


def error_of(text: str) -> InvalidSyntax:
    with pytest.raises(InvalidSyntax) as caught:
        parse(text)
    return caught.value


@given(documents())
def test_printed_text_reads_back_as_the_same_document(document: Document) -> None:
    printed = print_text(document, CATALOGUE)
    assert parse_text(printed, CATALOGUE, name=document.name) == document


@given(documents())
def test_there_is_one_chain_per_line(document: Document) -> None:
    chains = take_apart(document)
    assert len(print_text(document, CATALOGUE).splitlines()) == len(chains.chains) + len(chains.links)


_PIECES = (
    "topic", "filter", "preview", " ", " ! ", "as ", "@x", ".left", "x", "=", "topic=", '"a"', "[1]", "[", "{", "\n",
    ";", "#", "\\", ",", "1e5", "ü", "\t", "\u2028",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=20).map("".join))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    error: InvalidSyntax | None = None
    try:
        parse(text)
    except InvalidSyntax as refused:
        error = refused
    if error is not None:
        assert error.place is not None
        assert str(error).count("^") >= 1
        assert error.place.line <= len((text + "|").splitlines())


def test_values_fill_the_first_setting_and_named_ones_the_others() -> None:
    document = parse('topic telemetry schema="a INT" max_rows_per_batch=5 ! select a "a + 1 AS b" ! to-topic x')
    assert document.node("topic_1").config == {"topic": "telemetry", "schema": "a INT", "max_rows_per_batch": 5}
    assert document.node("select_1").config == {"columns": ["a", "a + 1 AS b"]}
    assert document.edges == (Edge("select_1", "to_topic_1"), Edge("topic_1", "select_1"))


def test_every_kind_of_value() -> None:
    config = parse('generator -1.5 columns=["a", {"b": null}] rows=true event_time=null watermark="ü\\n\\""')
    assert config.node("generator_1").config == {
        "rows_per_second": -1.5,
        "columns": ["a", {"b": None}],
        "rows": True,
        "event_time": None,
        "watermark": 'ü\n"',
    }


def test_a_list_setting_takes_a_single_value() -> None:
    document = parse("tumbling-window 10s keys=drone aggregates=[]")
    assert document.node("tumbling_window_1").config == {"size": "10s", "keys": ["drone"], "aggregates": []}


def test_branches_names_and_comments() -> None:
    document = parse(
        """
        # the fleet
        topic telemetry as fleet    # all of it
          ! filter "x > 1"
          !
          to-topic big; @fleet ! preview as look
        """
    )
    assert {node.id for node in document.nodes} == {"fleet", "filter_1", "to_topic_1", "look"}
    assert set(document.edges) == {
        Edge("fleet", "filter_1"), Edge("filter_1", "to_topic_1"), Edge("fleet", "look"),
    }  # fmt: skip


def test_a_reference_may_stand_before_its_node_and_in_the_middle_of_a_chain() -> None:
    document = parse("topic a ! @low ! preview\nfilter x as low")
    assert set(document.edges) == {Edge("topic_1", "low"), Edge("low", "preview_1")}


def test_ports_are_outputs_at_the_start_of_a_chain_and_inputs_elsewhere() -> None:
    document = parse("topic a as a\nselect x as join\n@a.errors ! @join.left ! preview")
    assert Edge("a", "join", "errors", "left") in document.edges
    assert Edge("join", "preview_1") in document.edges
    assert parse(print_text(document, CATALOGUE)) == document


def test_the_count_of_an_operator_makes_the_id_named_ones_included() -> None:
    document = parse("topic a as first ! preview\ntopic b ! preview")
    assert [node.id for node in document.nodes] == ["first", "preview_1", "preview_2", "topic_2"]


@pytest.mark.parametrize(
    "word", ["as", "true", "null", "5", "-1e3", "a b", "", "@x", "a=b", "x!", "#", '"', "[1]", "ü"]
)
def test_strings_that_mean_something_else_are_quoted(word: str) -> None:
    document = Document("pipeline", (Node("topic_1", "topic", {"topic": word}),))
    assert f'"{word}"' in print_text(document, CATALOGUE).replace('\\"', '"')
    assert parse(print_text(document, CATALOGUE)) == document


def test_a_cyclic_graph_is_printed_too() -> None:
    nodes = (Node("a", "filter", {"condition": "x"}), Node("b", "filter", {"condition": "y"}))
    document = Document("pipeline", nodes, (Edge("a", "b"), Edge("b", "a")))
    assert print_text(document, CATALOGUE) == "filter x as a ! filter y as b\n@b ! @a\n"
    assert parse(print_text(document, CATALOGUE)) == document


def test_a_graph_with_two_nodes_of_one_id_cannot_be_printed() -> None:
    with pytest.raises(InvalidInput, match="same id"):
        print_text(Document("x", (Node("a", "preview"), Node("a", "filter"))), CATALOGUE)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("topic a\n! fliter x", 2, 3, "unknown operator 'fliter'"),
        ("topic a ! filter a=1", 1, 18, "filter has no setting 'a'"),
        ("topic a b", 1, 9, "takes one topic"),
        ("topic a topic=b", 1, 7, "given twice"),
        ("topic schema=x schema=y", 1, 16, "given twice"),
        ("topic a schema=", 1, 16, "expected a value after schema=, found the end"),
        ("topic a schema= ! preview", 1, 17, "expected a value after schema=, found '!'"),
        ("topic a !", 1, 10, "found the end"),
        ("! topic a", 1, 1, "expected an operator"),
        ('"topic" a', 1, 1, "expected an operator"),
        ("topic a ! @missing", 1, 11, "no node has the id 'missing'"),
        ("topic a as x\n@x", 2, 3, "expected '!' after @x"),
        ("topic a as 5", 1, 12, "expected an id after 'as'"),
        ("topic a as x y", 1, 14, "expected '!' or the end of the line"),
        ("topic a as x ! filter b as x", 1, 16, "two nodes have the id 'x'"),
        ('topic "abc', 1, 7, "unterminated string"),
        ("select [1,", 1, 11, "expecting value"),
        ("select [NaN]", 1, 8, "NaN is no JSON number"),
        ("select 1e999", 1, 8, "1e999 is too large"),
        ("filter battery<=20", 1, 16, "unexpected '='"),
        ("preview 5", 1, 9, "takes no value without a name"),
        ("topic a ! @ b", 1, 11, "unexpected '@'"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, line: int, column: int, message: str) -> None:
    error = error_of(text)
    assert error.place is not None
    assert (error.place.line, error.place.column) == (line, column)
    assert message in error.message


def test_near_names_are_offered() -> None:
    assert error_of("topic a ! fliter x").hint == "did you mean filter or file?"
    assert error_of("topic a shema=x").hint == "did you mean schema?"
    assert error_of("topic a as cheap\n@chep ! preview").hint == "did you mean cheap?"


def test_a_text_has_a_limit() -> None:
    assert "allowed" in error_of("#" * (MAX_TEXT_CHARACTERS + 1)).message


def test_deep_nesting_is_refused() -> None:
    assert "cannot be read" in error_of("select " + "[" * 100_000).message
