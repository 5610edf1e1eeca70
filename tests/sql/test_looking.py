"""A SELECT of its own over streams, as the pipeline that makes its rows."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.operators import Catalogue
from headrace.sql import LOOK, Wanted, print_sql, read_look, read_wanted

T = "CREATE STREAM t (k STRING, n INT) WITH (topic = 'rows');"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (f"{T} SELECT * FROM t", Wanted(("t",), (), ())),
        ("SELECT * FROM t JOIN u ON t.k = u.k", Wanted((), ("t", "u"), ("t", "u"))),
        ("WITH x AS (SELECT * FROM t) SELECT * FROM x", Wanted((), ("t",), ("t",))),
        ("CREATE VIEW v AS SELECT * FROM t; SELECT * FROM v", Wanted(("v",), (), ("t",))),
        ("CREATE TABLE l (k STRING PRIMARY KEY); SELECT * FROM l", Wanted((), (), ())),
        ("SELECT 1 FROM t; SELECT 2 FROM t", None),
        ("SELECT 1 FROM t; SHOW TABLES", None),
        (f"{T} CREATE STREAM s AS SELECT k FROM t", None),
    ],
)
def test_what_a_script_wants(sql: str, wanted: Wanted | None) -> None:
    assert read_wanted(sql) == wanted


def test_only_what_leads_to_the_rows_is_part_of_it() -> None:
    others = "CREATE STREAM other AS SELECT n FROM t; CREATE VIEW big AS SELECT * FROM t WHERE n > 10;"
    look = read_look(f"{T} {others} SELECT k FROM big LIMIT 5", "", Catalogue())
    assert look.limit == 5
    assert [(node.id, node.operator) for node in look.document.nodes] == [
        ("big", "filter"),
        (LOOK, "select"),
        (f"into_{LOOK}", "preview"),
        ("t", "topic"),
    ]


def test_definitions_from_elsewhere_stand_before_and_places_do_not_move() -> None:
    saved = read_look(f"{T} SELECT k, n FROM t WHERE n > 1", "", Catalogue()).document.leading_to([LOOK])
    known = print_sql(saved)
    look = read_look(f"SELECT k FROM {LOOK.replace('headrace_', '')}2", known.replace(LOOK, "look2"), Catalogue())
    assert {node.id for node in look.document.nodes} >= {"t", "look2", LOOK}
    with pytest.raises(InvalidSyntax, match="unknown column 'm'") as caught:
        read_look("SELECT k,\n  m FROM look2", known.replace(LOOK, "look2"), Catalogue())
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (2, 3)
    assert caught.value.place.marked() == "  m FROM look2\n  ^"
