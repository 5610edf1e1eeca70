"""Options that other engines spell in their own way."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.sql import parse

READ = "CREATE STREAM o AS SELECT k FROM t;"


def source(options: str, columns: str = "k STRING, at TIMESTAMP") -> dict[str, object]:
    document = parse(f"CREATE STREAM t ({columns}) WITH ({options}); {READ}")
    return dict(document.node("t").config)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("'error.strategy' = 'drop'", {"on_error": "drop"}),
        ("'error.strategy' = 'FAIL'", {"on_error": "fail"}),
        ("'error.strategy' = 'retry'", {"on_error": "retry"}),
        ("'error.strategy' = 'dlq', 'dead_letter.topic' = 'bad'", {"on_error": "dead_letter", "dead_letter": "bad"}),
        ("'event.time.field' = 'at', 'event.time.format' = 'iso8601'", {"event_time": "at"}),
        ("'event.time.field' = 'at', 'event.time.format' = 'epoch_millis'", {"event_time": "at"}),
        (
            "'event.time.field' = 'at', 'event.time.format' = 'epoch_seconds'",
            {"event_time": "at", "event_time_format": "epoch_seconds"},
        ),
        (
            "'event.time.field' = 'at', format = 'csv', 'event.time.format' = 'dd.MM.yyyy HH:mm'",
            {"event_time": "at", "event_time_format": "dd.MM.yyyy HH:mm"},
        ),
    ],
)
def test_options_stand_for_settings(options: str, expected: dict[str, object]) -> None:
    found = source(options)
    assert {name: found.get(name) for name in expected} == expected
    assert not {"error.strategy", "event.time.format"} & found.keys()


@pytest.mark.parametrize(
    ("options", "columns", "message"),
    [
        ("'error.strategy' = 'drp'", "k STRING", "no strategy 'drp' for bad rows"),
        ("'error.strategy' = 'drop', bad_rows = 'fail'", "k STRING", "say the same thing twice"),
        ("'error.strategy' = 'dlq'", "k STRING", "no topic is named"),
        ("'event.time.format' = 'iso8601'", "k STRING", "no column is the event time"),
        ("'event.time.field' = 'at', 'event.time.format' = 'epoch_millis'", "k STRING, at BIGINT", "'at' is BIGINT"),
        ("'event.time.field' = 'at', 'event.time.format' = 'epoch_seconds'", "k STRING, at BIGINT", "at' is BIGINT"),
        ("'event.time.field' = 'at', 'event.time.format' = 'dd.MM.yyyy'", "k STRING, at STRING", "at' is STRING"),
        (
            "'event.time.field' = 'at', 'event.time.format' = 'yyy'",
            "k STRING, at TIMESTAMP",
            "'yyy' is no part|'yyy' in",
        ),
        ("'event.time.field' = 'at', 'event.time.format' = 'HH:mm'", "k STRING, at TIMESTAMP", "has no year"),
        (
            "'event.time.field' = 'at', format = 'avro', 'event.time.format' = 'epoch_seconds'",
            "k STRING, at TIMESTAMP",
            "event_time_format is set and format is avro",
        ),
    ],
)
def test_what_stands_for_nothing_is_refused(options: str, columns: str, message: str) -> None:
    with pytest.raises(InvalidSyntax, match=message) as caught:
        source(options, columns)
    assert caught.value.place is not None
