"""Test files are read line by line; what is wrong in them is told with its line."""

from __future__ import annotations

import pytest

from headrace.cases import read_cases
from headrace.cases.case_file import Cell
from headrace.errors import InvalidSyntax

FILE = """\
-- @name drones
CREATE STREAM t (a STRING, b INT);
-- @input t
-- | a  | b |
-- |----|---|
-- | x  | 1 |
-- | y\\|z | NULL |

-- @case first one
CREATE STREAM s AS SELECT a FROM t;
-- @expect s ordered
-- | a |

-- @case
-- @mode batch
CREATE STREAM r AS
  SELECT b FROM t;
-- @input t
-- {"a": "q", "b": 2}
-- @expect r
-- {"b": 2}
-- @case third
SELEKT;
-- @expect error unknown statement
"""


def test_what_stands_above_the_first_case_belongs_to_all() -> None:
    first, second, third = read_cases(FILE, "file")
    assert (first.name, second.name, third.name) == ("first one", "case 2", "third")
    assert first.inputs[0].rows == ({"a": "x", "b": "1"}, {"a": "y|z", "b": "NULL"})
    assert isinstance(first.inputs[0].rows[0]["b"], Cell)
    assert [given.rows for given in second.inputs] == [first.inputs[0].rows, ({"a": "q", "b": 2},)]
    assert first.expectations[0].is_ordered
    assert first.expectations[0].given.columns == ("a",)
    assert not second.expectations[0].is_ordered
    assert (first.modes, second.modes) == (("batch", "stream"), ("batch",))
    assert third.error == "unknown statement"


def test_lines_of_the_sql_are_those_of_the_file() -> None:
    _, second, _ = read_cases(FILE, "file")
    lines = second.sql.split("\n")
    assert lines[1] == "CREATE STREAM t (a STRING, b INT);"
    assert lines[FILE.split("\n").index("  SELECT b FROM t;")] == "  SELECT b FROM t;"
    assert "SELECT a FROM t" not in second.sql


def test_a_file_without_cases_is_one() -> None:
    (case,) = read_cases("CREATE STREAM s AS SELECT * FROM t;\n-- @expect s\n-- | a |", "only")
    assert (case.name, case.line) == ("only", 1)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("-- | a |", "rows stand below @input", 1),
        ("\n-- @expekt s", "unknown word @expekt", 2),
        ("-- @input t\n-- | a | b |\n-- | 1 |", "1 cells below 2 columns", 3),
        ("-- @input t\n-- {a}", "no JSON object", 2),
        ("-- @input a b", "'a b' is no name", 1),
        ("-- @mode slow", "there is no mode 'slow'", 1),
        ("-- @case x\nSELECT 1;", "'x' expects nothing", 1),
    ],
)
def test_faults_are_told_with_their_line(text: str, message: str, line: int) -> None:
    with pytest.raises(InvalidSyntax, match=message) as caught:
        read_cases(text, "file")
    assert caught.value.place is not None
    assert caught.value.place.line == line


def test_a_row_of_empty_cells_is_a_row() -> None:
    (case,) = read_cases("-- @expect s\n-- | a | b |\n-- |---|:-:|\n-- |   |   |\n-- | 1 |   |", "file")
    assert [list(row.values()) for row in case.expectations[0].given.rows] == [["", ""], ["1", ""]]
