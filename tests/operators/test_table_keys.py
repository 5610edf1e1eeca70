"""The setting that says of which columns a table's key is made."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidInput
from headrace.graph.schema import Schema
from headrace.operators.table_keys import check_key, key_columns, key_setting

SCHEMA = Schema.parse("a STRING, b INT, tags ARRAY<STRING>")


@pytest.mark.parametrize(
    ("columns", "setting"),
    [
        (("a",), "a"),
        (("we ird",), "we ird"),
        (("back`quote",), "back`quote"),
        (("a", "b"), "a, b"),
        (("a,b",), "`a,b`"),
        (("a,`b", "`c`"), "`a,``b`, ```c```"),
    ],
)
def test_columns_become_a_setting_and_come_back(columns: tuple[str, ...], setting: str) -> None:
    assert key_setting(columns) == setting
    assert key_columns(setting) == columns


def test_columns_are_spelled_as_the_schema_has_them() -> None:
    assert key_columns("a ,b") == ("a", "b")
    assert check_key(SCHEMA, "B, A") == ("b", "a")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("c", "unknown column 'c'"),
        ("a, c", "unknown column 'c'"),
        ("a, A", "'a' is in the key twice"),
        ("a, tags", "a key is one plain value"),
        (",", "unknown column ','"),
    ],
)
def test_what_is_no_key(key: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_key(SCHEMA, key)
