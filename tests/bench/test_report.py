from __future__ import annotations

import json

import pytest

from headrace.bench import Report, Result


def test_a_ratio_above_one_is_better_for_either_direction() -> None:
    assert Result("filter", "rows/s", 200.0, {"peer": 100.0}).ratio == {"peer": 2.0}
    assert Result("ready", "s", 2.0, {"peer": 4.0}).ratio == {"peer": 2.0}


def test_the_object_has_the_agreed_form() -> None:
    report = Report("spine", (Result("filter", "rows/s", 123_456.7, {"a": 61_728.35}), Result("ready", "s", 1.23456)))
    assert json.loads(report.to_json()) == {
        "suite": "spine",
        "results": [
            {"name": "filter", "unit": "rows/s", "ours": 123_500.0, "peers": {"a": 61_730.0}, "ratio": {"a": 2.0}},
            {"name": "ready", "unit": "s", "ours": 1.235, "peers": {}, "ratio": {}},
        ],
    }


def test_the_table_has_a_column_for_every_peer() -> None:
    first = Result("filter", "rows/s", 2_000_000.0, {"a": 1_000_000.0})
    second = Result("micro-batch-p50", "ms", 50.0, {"b": 100.0})
    columns, rows = Report("spine", (first, second)).table()
    assert columns == ["item", "unit", "ours", "a", "b"]
    assert rows == [
        ["filter", "rows/s", "2,000,000", "1,000,000 (× 2.00)", "–"],
        ["micro-batch-p50", "ms", "50", "–", "100 (× 2.00)"],
    ]


@pytest.mark.parametrize(("figure", "shown"), [(0.0123449, "0.01234"), (98.76543, "98.77"), (123_456.0, "123,500")])
def test_four_digits_are_enough(figure: float, shown: str) -> None:
    assert Report("spine", (Result("x", "s", figure),)).table()[1][0][2] == shown
