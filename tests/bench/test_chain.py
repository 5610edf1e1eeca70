from __future__ import annotations

import pytest

from headrace.bench.chain import ChainSettings, run_chain
from headrace.bench.chain_rows import blocks
from headrace.errors import InvalidInput


def test_parts_are_measured_without_spark() -> None:
    report = run_chain(ChainSettings(items=("copies",), against=()), lambda _: None)
    assert [(result.name, result.ours) for result in report.results] == [("copies", 0)]


def test_rows_are_partitioned_by_key_and_all_there() -> None:
    seen: dict[int, set[str]] = {0: set(), 1: set()}
    count = 0
    for partition, rows in blocks(100_001):
        seen[partition].update(str(key) for key in rows.column("k").unique().to_pylist())
        count += rows.num_rows
    assert count == 100_001
    assert not seen[0] & seen[1]


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown item 'copis'"):
        ChainSettings(items=("copis",))
