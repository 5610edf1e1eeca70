from __future__ import annotations

import pytest

from headrace.errors import InvalidInput
from headrace.graph import Schema
from headrace.operators.filter import Filter, FilterConfig
from headrace.operators.system_columns import SYSTEM_COLUMNS
from headrace.operators.testing import Trial

SCHEMA = Schema(Schema.parse("drone STRING, battery DOUBLE").columns, SYSTEM_COLUMNS)


def output(condition: str) -> Schema:
    return Filter().output_schema(FilterConfig(condition=condition), {"in": SCHEMA})


@pytest.mark.spark
def test_rows_for_which_the_condition_is_false_or_null_are_left_out(trial: Trial) -> None:
    columns = 'columns=["value", "if(value = 3, null, value) AS maybe"]'
    assert trial.batch(f'generator rows=6 {columns} ! filter "maybe >= 2" ! preview') == [(2, 2), (4, 4), (5, 5)]


def test_rows_keep_their_columns_and_system_columns_can_be_named() -> None:
    assert output("battery < 20 AND _offset > 5") == SCHEMA
    assert output("my_function(drone)").hidden == SYSTEM_COLUMNS


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("battery", "is DOUBLE, not BOOLEAN"),
        ("battery < 20 AS low", "is no condition"),
        ("*", "is no condition"),
        ("avg(battery) > 5", "aggregate .* cannot stand in a filter"),
        ("explode(drone)", "cannot stand in a filter"),
        ("batery < 5", "unknown column 'batery'"),
        ("_timestamp > battery", "does not work with TIMESTAMP and DOUBLE"),
        ("battery <", "incomplete"),
    ],
)
def test_conditions_that_are_refused(condition: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(condition)


def test_the_columns_of_the_condition_are_read() -> None:
    read = Filter().used_columns(FilterConfig(condition="battery < 5"), frozenset({"drone"}), {"in": SCHEMA})
    assert read == {"in": {"drone", "battery"}}
