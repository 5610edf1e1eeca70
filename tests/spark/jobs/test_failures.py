"""What our code raised in another process comes back as an error that names the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headrace.graph.document import Document, Node
from headrace.spark.compiling.blame import said_by_spark
from headrace.spark.jobs.failures import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRACEBACK = """[STREAM_FAILED] Query terminated with exception: Job aborted due to stage failure
Traceback (most recent call last):
  File "worker.py", line 1, in main
headrace.errors.InvalidInput: node 'telemetry': the record in telemetry-0 at offset 7 is not json
hint: bad_rows=drop counts such records

\tat org.apache.spark.Some.where(Some.scala:1)
"""


def test_an_error_of_ours_is_found_in_sparks_message() -> None:
    error, retriable = explain(RuntimeError(TRACEBACK))
    assert error.node == "telemetry"
    assert error.message == "the record in telemetry-0 at offset 7 is not json"
    assert error.hint == "bad_rows=drop counts such records"
    assert not retriable


def test_what_may_pass_is_tried_again() -> None:
    _, retriable = explain(RuntimeError("headrace.wire.client.errors.ConnectionLost: no broker at 127.0.0.1:1"))
    assert retriable
    _, retriable = explain(RuntimeError("headrace.errors.CorruptData: topic-0: offsets 1 to 5 are no longer there"))
    assert not retriable


def test_an_unknown_failure_is_shown_short_and_tried_again() -> None:
    error, retriable = explain(RuntimeError("executor lost\n\tat a\n\tat b\n" + "x" * 10_000))
    assert error.message.startswith("executor lost")
    assert len(error.message) <= 2_000
    assert retriable


def test_what_the_input_or_the_code_is_to_blame_for_is_not_tried_again() -> None:
    divided = "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"
    broken = "[PYTHON_EXCEPTION] Traceback (most recent call last):\n  File x\nNameError: name 'y' is not defined"
    assert [explain(RuntimeError(text))[1] for text in (divided, broken)] == [False, False]


DIVIDED = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage failure
[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. If necessary \
set "spark.sql.ansi.enabled" to "false" to bypass this error. SQLSTATE: 22012
== SQL (line 1, position 23) ==
upper(string(a div b)) AS q
             ^^^^^^^
"""
CAST = """[CAST_INVALID_INPUT] The value 'x' of the type "STRING" cannot be cast to "INT" because it is malformed. \
Correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return \
NULL instead. SQLSTATE: 22018
== SQL (line 1, position 1) ==
CAST(b AS INT) AS q
^^^^^^^^^^^^^^
"""


def test_sparks_own_error_names_the_node_and_no_option_of_spark() -> None:
    nodes = [
        Node("ratio", "select", {"columns": ["a", "upper(string(a div b)) AS q"]}),
        Node("number", "select", {"columns": ["CAST(b  AS INT) AS q"]}),
    ]
    document = Document("p", tuple(nodes))
    divided, retriable = explain(RuntimeError(DIVIDED), document)
    assert (divided.node, divided.message) == ("ratio", "Division by zero, in upper(string(a div b)) AS q")
    assert "nullif" in str(divided.hint)
    assert not retriable
    cast, _ = explain(RuntimeError(CAST), document)
    assert cast.node == "number"
    assert cast.message.startswith("The value 'x' of the type \"STRING\" cannot be cast")
    for error in (divided, cast):
        assert not [word for word in ("try_", "spark.sql", "SQLSTATE") if word in error.message + str(error.hint)]
    # Two nodes with the same expression: nobody knows which.
    twice = Document("p", (nodes[0], Node("other", "select", nodes[0].config)))
    assert explain(RuntimeError(DIVIDED), twice)[0].node is None


OPERATOR_TRACEBACK = """[STREAM_FAILED] Query terminated with exception: Job aborted due to stage failure
Traceback (most recent call last):
  File "functions.py", line 9, in inverse
headrace.errors.InvalidInput: a price of 0

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "boundary.py", line 90, in process
headrace.serial.boundary.OperatorFailed: node 'inverse': {kind}: {message} (in lane 3, offset 102, row {{"price": 0}})
Traceback (most recent call last):
  File "functions.py", line 9, in inverse
headrace.errors.InvalidInput: a price of 0
{kind}: {message}
record: {{"symbol": "c", "price": 0, "_offset": 102}}

\tat org.apache.spark.Some.where(Some.scala:1)
"""


def test_what_an_operator_raised_is_told_with_its_node_and_the_record() -> None:
    text = OPERATOR_TRACEBACK.format(kind="ZeroDivisionError", message="division by zero")
    error, retriable = explain(RuntimeError(text))
    assert error.node == "inverse"
    assert error.message.startswith("ZeroDivisionError: division by zero (in lane 3")
    assert error.record == {"symbol": "c", "price": 0, "_offset": 102}
    assert error.to_dict()["record"] == error.record
    assert not retriable


def test_an_operator_that_waits_for_others_is_tried_again() -> None:
    text = OPERATOR_TRACEBACK.format(kind="ConnectionError", message="no answer")
    assert explain(RuntimeError(text))[1]


def test_a_record_that_was_cut_off_on_its_way_is_left_out() -> None:
    text = OPERATOR_TRACEBACK.format(kind="KeyError", message="'x'").replace('"c", "price": 0', '"c')
    error, _ = explain(RuntimeError(text))
    assert (error.node, error.record) == ("inverse", None)


def test_the_node_of_a_function_is_known_if_it_is_the_only_caller() -> None:
    text = (
        "Traceback\nheadrace.errors.InvalidInput: the function 'inverse' failed with (0,): ZeroDivisionError: division"
    )
    once = Node("a", "filter", {"condition": "`tax.py:inverse`(n) > 1"})
    error, _ = explain(RuntimeError(text), Document("p", (once, Node("b", "select", {"columns": ["n"]}))))
    assert (error.node, error.message) == ("a", "the function 'inverse' failed with (0,): ZeroDivisionError: division")
    twice = Node("b", "select", {"columns": ["INVERSE(n) AS i"]})
    assert explain(RuntimeError(text), Document("p", (once, twice)))[0].node is None


# Expressions that fail for a row, of which Spark tells the error without the expression; part of message and hint.
RAISED = (
    ("to_date(concat('2026', s), 'yyyy ww')", "cannot be read", "'yyyy-MM-dd HH:mm:ss'"),
    ("make_date(2026, 12 + i, 1)", "MonthOfYear", "drop such rows with a filter"),
    ("raise_error(concat('no', s))", "no", "the pipeline raises"),
    ("regexp_replace(s, concat('(', s), '')", "regexp_replace", "mend the argument"),
    ("map_from_arrays(array(i, i), array(2, 3))", "Duplicate map key 1", "array_distinct"),
    ("from_json(concat('{', s), 'a INT', map('mode', 'FAILFAST'))", "Malformed records", "FAILFAST"),
)


@pytest.mark.spark
def test_each_error_of_a_row_names_node_cause_and_remedy(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("x", 1)], "s STRING, i INT").repartition(1)
    for text, message, hint in RAISED:
        nodes = (Node("topic", "topic", {"topic": "t"}), Node("sel", "select", {"columns": [f"{text} AS r"]}))
        with pytest.raises(Exception) as raised:  # noqa: PT011 - Spark's own, of several classes
            rows.selectExpr(f"{text} AS r").collect()
        error, retriable = explain(raised.value, Document("p", nodes))
        assert (message in error.message, hint in str(error.hint)) == (True, True), (text, error.message, error.hint)
        assert error.node == "sel", text
        assert not retriable, text
        assert "SQLSTATE" not in error.message, text


# Expressions that Spark cannot plan, and what is said of them.
UNPLANNED = (
    ("s SIMILAR TO 'a'", "Syntax error at or near 'TO'"),
    ("substr(s)", "The `substr` requires [2, 3] parameters but the actual number is 1"),
    ("none_such(s)", "Cannot resolve routine `none_such`"),
    ("i.x", "Can't extract a value from"),
    ("NOT i", 'the first parameter requires the "BOOLEAN" type'),
)


@pytest.mark.spark
def test_what_spark_cannot_plan_is_said_in_one_sentence(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException

    rows = spark.createDataFrame([], "s STRING, i INT")
    for text, sentence in UNPLANNED:
        with pytest.raises(AnalysisException) as raised:
            rows.selectExpr(text)
        message, hint = said_by_spark(str(raised.value))
        assert sentence.lower() in message.lower(), message
        assert "\n" not in message
        assert not [word for word in ("SQLSTATE", "line 1", "spark.apache.org", "search path") if word in message]
        assert hint or text == "i.x"
