"""Variables are replaced before anything is read; what a document says comes through as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidSyntax
from headrace.graph.document import Document, Edge, Node
from headrace.sql import parse, print_sql
from headrace.sql.language.variables import escape, expand

SQL = """\
CREATE STREAM t (a INT) WITH (topic = '${PREFIX:dev}.t');
CREATE STREAM s AS SELECT a FROM t WHERE a > ${LIMIT:10};
"""


def test_values_win_over_defaults() -> None:
    assert parse(SQL).node("s_filter").config == {"condition": "a > 10"}
    given = parse(SQL, variables={"LIMIT": "20", "PREFIX": "live"})
    assert given.node("s_filter").config == {"condition": "a > 20"}
    assert given.node("t").config["topic"] == "live.t"


def test_a_variable_without_a_value_is_refused_at_its_place() -> None:
    with pytest.raises(InvalidSyntax, match="the variable 'LIMITS' has no value") as caught:
        parse(SQL.replace("LIMIT:10", "LIMITS"), variables={"LIMIT": "1"})
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.length) == (2, len("${LIMITS}"))
    assert caught.value.hint == "did you mean LIMIT?"


@pytest.mark.parametrize("written", ["${}", "${LIMIT", "${2}", "${a b}"])
def test_what_opens_no_variable_is_refused_at_its_place(written: str) -> None:
    with pytest.raises(InvalidSyntax, match="opens no variable") as caught:
        parse(SQL.replace("${LIMIT:10}", written))
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.length) == (2, len("${"))
    assert "${NAME:default}" in str(caught.value.hint)


def test_a_document_may_hold_what_looks_like_a_variable() -> None:
    node = Node("f", "filter", {"condition": "a = '${x} and $${y}'"})
    source = Node("t", "topic", {"topic": "t", "schema": "a STRING"})
    document = Document("d", (source, node, Node("p", "preview")), (Edge("t", "f"), Edge("f", "p")))
    assert parse(print_sql(document), variables={"x": "1", "y": "2"}) == document


def test_a_secret_stays_a_reference_in_every_notation() -> None:
    place = "https://u:${secret:PW}@schemas"
    sql = f"CREATE STREAM t (a INT) WITH (topic = 't', format = 'avro', 'schema.registry' = '{place}');"
    read = parse(sql + "CREATE STREAM s AS SELECT a FROM t;", variables={"secret": "wrong"})
    assert read.node("t").config["schema_registry"] == place
    assert place in print_sql(read)
    assert parse(print_sql(read)).node("t").config == read.node("t").config


@given(st.lists(st.sampled_from([*"${}a:b '", "${secret:a}"])).map("".join))
def test_escaped_texts_come_back(text: str) -> None:
    assert expand(escape(text), {"a": "wrong", "b": "wrong", "secret": "wrong"}) == text
