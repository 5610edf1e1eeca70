"""The names that other folders may use."""

from __future__ import annotations

import headrace.sql


def test_public_names() -> None:
    assert sorted(headrace.sql.__all__) == [
        "Ask",
        "Create",
        "Delete",
        "Describe",
        "Drop",
        "Explain",
        "InsertValues",
        "LOOK",
        "Look",
        "PipelineAction",
        "Request",
        "SPARK_FUNCTIONS",
        "Show",
        "Update",
        "Wanted",
        "declared_streams",
        "declared_tables",
        "expand",
        "parse",
        "print_sql",
        "print_statement",
        "read_annotations",
        "read_look",
        "read_requests",
        "read_wanted",
    ]
    assert all(hasattr(headrace.sql, name) for name in headrace.sql.__all__)
