from __future__ import annotations

import json
import subprocess
import sys

import pytest

from headrace.bench.brc import ITEMS, SIZES, STATIONS, BrcSettings, agree, blocks, found_of
from headrace.errors import InvalidInput, JobFailed


def test_rows_are_the_same_each_time_and_of_all_stations() -> None:
    first, second = (list(blocks(300_000)) for _ in range(2))
    assert [block.num_rows for block in first] == [250_000, 50_000]
    assert all(one.equals(other) for one, other in zip(first, second, strict=True))
    assert len(set(first[0]["station"].to_pylist())) == STATIONS
    assert set(SIZES) < set(ITEMS)


def test_results_that_differ_are_told() -> None:
    ours = found_of([["a", 1.0, 2.0, 3.0]])
    assert agree(None, ours, "ours") == ours
    assert agree(ours, found_of([["a", 1.0, 2.0 + 1e-12, 3.0]]), "duckdb") == ours
    with pytest.raises(JobFailed, match="duckdb found"):
        agree(ours, found_of([["a", 1.0, 2.1, 3.0]]), "duckdb")
    with pytest.raises(JobFailed, match="0 stations"):
        agree(ours, {}, "duckdb")


def test_an_unknown_item_or_peer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no item 'rows-1b'"):
        BrcSettings(items=("rows-1b",))
    with pytest.raises(InvalidInput, match="no peer 'pandas'"):
        BrcSettings(against=("pandas",))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_places_come_to_the_result_of_pyspark() -> None:
    items = "rows-1m,rows-1m-arrow,rows-1m-csv"
    command = [sys.executable, "-m", "headrace", "bench", "brc", "--rows", "5000", "--items", items]
    done = subprocess.run([*command, "--against", "pyspark", "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert [result["name"] for result in report["results"]] == items.split(",")
    assert all(result["peers"]["pyspark"] > 0 for result in report["results"])
