"""Whatever is written, the answer is a document or an error of ours, never a crash."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.errors import InvalidSyntax
from headrace.sql import parse

_TEXT = """
CREATE STREAM VIEW INSERT INTO SELECT FROM WHERE GROUP BY WINDOW TUMBLING HAVING EMIT CHANGES FINAL WITH AS TABLE
WATERMARK FOR INTERVAL TUMBLE DESCRIPTOR ARRAY JSON NOT CASE WHEN THEN END OVER CAST STRING STRUCT t o drone alt
count avg ( ) ( ) , , . ; * + - = => < > -> [ ] { } ' " ` 10s 5m 1 'x' '10' 1e9 @ # $ : :: -- /* */
"""
WORDS = ("\n", *_TEXT.split())
SCRIPTS = [path.read_text() for path in sorted((Path(__file__).parent / "cases").glob("*.sql"))]


def read(sql: str) -> None:
    with contextlib.suppress(InvalidSyntax):
        parse(sql)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
@settings(max_examples=150, deadline=None)
def test_words_in_any_order(words: list[str]) -> None:
    read(" ".join(words))


@given(st.sampled_from(SCRIPTS), st.data())
@settings(max_examples=100, deadline=None)
def test_scripts_with_a_piece_replaced(script: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(script)))
    end = data.draw(st.integers(start, min(len(script), start + 12)))
    read(script[:start] + data.draw(st.sampled_from(("", *WORDS))) + script[end:])


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text(text: str) -> None:
    read(text)
    read(f"CREATE STREAM t (a INT); CREATE STREAM s AS SELECT {text} FROM t")
