"""An error that misses a name shows the nearest few, however many there are."""

from __future__ import annotations

import pytest

from headrace.errors import InvalidSyntax
from headrace.sql import parse


def test_an_unknown_stream_names_the_nearest() -> None:
    many = "".join(f"CREATE STREAM stream_{number} (x INT);" for number in range(200))
    with pytest.raises(InvalidSyntax, match="unknown stream 'stream_1x'") as refused:
        parse(f"{many} CREATE STREAM o AS SELECT x FROM stream_1x")
    assert len(refused.value.valid) == 8
    assert "stream_1" in refused.value.valid
