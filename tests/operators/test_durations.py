from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput
from headrace.operators.durations import MAX_DURATION_MS, canonical_duration, canonical_duration_of, duration_ms


@pytest.mark.parametrize(
    ("text", "milliseconds", "canonical"),
    [
        ("5 seconds", 5_000, "5 seconds"),
        ("10s", 10_000, "10 seconds"),
        ("5m", 300_000, "5 minutes"),
        ("1 hour", 3_600_000, "1 hour"),
        ("500 ms", 500, "500 milliseconds"),
        ("60S", 60_000, "1 minute"),
        ("1 hour 30 minutes", 5_400_000, "90 minutes"),
        ("1h, 30min", 5_400_000, "90 minutes"),
        ("1.5 h", 5_400_000, "90 minutes"),
        ("2 DAYS", 172_800_000, "2 days"),
        ("0 seconds", 0, "0 seconds"),
        (" 3 secs ", 3_000, "3 seconds"),
    ],
)
def test_durations(text: str, milliseconds: int, canonical: str) -> None:
    assert duration_ms(text) == milliseconds
    assert canonical_duration(text) == canonical


@given(st.integers(0, MAX_DURATION_MS))
def test_the_canonical_spelling_reads_back(milliseconds: int) -> None:
    spelled = canonical_duration_of(milliseconds)
    assert duration_ms(spelled) == milliseconds
    assert canonical_duration(spelled) == spelled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no duration"),
        ("   ", "is no duration"),
        ("5", "is no duration"),
        ("-5 s", "is no duration"),
        ("seconds", "is no duration"),
        ("5 seconds ago ", "is no duration"),
        ("5 parsecs", "unknown unit 'parsecs'"),
        ("1 month", "unknown unit 'month'"),
        ("0.1 ms", "finer than a millisecond"),
        ("99999 days", "longer than 3650 days"),
        ("1" * 400 + " s", "is no duration"),
    ],
)
def test_what_is_no_duration(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        duration_ms(text)
