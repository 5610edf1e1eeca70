"""A script to add statements to, and what its nodes are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.graph.document import Document
from headrace.sql import parse

HEAD = """\
CREATE STREAM t (drone STRING, alt DOUBLE, ok BOOLEAN, tags ARRAY<STRING>, ts TIMESTAMP,
                 WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM timeless (drone STRING, alt DOUBLE);
CREATE STREAM o WITH (topic = 'o');
"""


@pytest.fixture
def read() -> Callable[[str], Document]:
    """The document of some statements behind the declarations of t, timeless and o."""
    return lambda sql: parse(HEAD + sql)
