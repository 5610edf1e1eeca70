"""Every letter of Unicode, and times of any year, come out as Spark has them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headrace.graph.schema import Schema
from headrace.operators.columnar import planned, scope_of
from headrace.operators.columnar.values import Values

# Behind it there are no letters of two cases.
LETTERS_END = 0x20000
# Letters that are written otherwise at the end of a word, or after another.
WORDS = ("ΑΣ", "ΑΣ Β", "Σ", "ΑΣ.", "Α\u0301Σ", "ΑΣ\u0301", "İstanbul", "ﬃ", "ß", "ǅ", "ᾳΙ", "ΌΣΟΣ", "i\u0307")
US_PER_DAY = 86_400_000_000
YEARS = (-290_000, -1, 0, 1, 9_999, 10_000, 32_768, 290_000)


@pytest.mark.spark
def test_letters_of_all_languages_change_their_case_as_in_spark(spark: SparkSession) -> None:
    letters = [chr(code) for code in range(1, LETTERS_END) if not 0xD800 <= code < 0xE000]
    lines = [" ".join(letters[first : first + 32]) for first in range(0, len(letters), 32)]
    rows = pa.record_batch({"s": [*lines, *WORDS]})
    texts = ("lower(s)", "upper(s)", "length(s)", "trim(s)", "substring(s, 1, 1)")
    found = spark.createDataFrame(pa.Table.from_batches([rows])).selectExpr(*texts).toArrow()
    for text, wanted in zip(texts, found.columns, strict=True):
        form = planned(text, scope_of(Schema.parse("s STRING")))
        assert form is not None
        made = Values(rows).array(form).to_pylist()
        others = [
            (before, one, other)
            for line, ours, theirs in zip(rows["s"].to_pylist(), made, wanted.to_pylist(), strict=True)
            if ours != theirs
            for before, one, other in zip(
                str(line).split(" "), str(ours).split(" "), str(theirs).split(" "), strict=False
            )
            if one != other
        ]
        assert not others, f"{text}: {len(others)}, {others[:60]!a}"


@pytest.mark.spark
def test_times_of_any_year_are_written_as_in_spark(spark: SparkSession) -> None:
    us = [round((year - 1970) * 365.2425) * US_PER_DAY + shift for year in YEARS for shift in (-1, 0, 5_025_000_001)]
    rows = pa.record_batch({"t": pa.array([*us, None, -(1 << 63), (1 << 63) - 1], pa.timestamp("us", tz="UTC"))})
    texts = (
        "year(t)", "month(t)", "day(t)", "hour(t)", "minute(t)", "second(t)", "date_format(t, 'yyyy-MM-dd HH:mm:ss')",
        "date_format(t, 'yyyy')", "date_format(t, 'MM/dd')",
    )  # fmt: skip
    found = spark.createDataFrame(pa.Table.from_batches([rows])).selectExpr(*texts).toArrow()
    for text, wanted in zip(texts, found.columns, strict=True):
        form = planned(text, scope_of(Schema.parse("t TIMESTAMP")))
        assert form is not None
        assert Values(rows).array(form).to_pylist() == wanted.to_pylist(), text
