from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.bench.peers import CONFS, Peers
from headrace.bench.spine import ITEMS, SpineSettings
from headrace.errors import ExternalFailure, InvalidInput


def test_an_unknown_item_or_peer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no item 'filters'") as item:
        SpineSettings(items=("filters",))
    assert "filter" in str(item.value)
    with pytest.raises(InvalidInput, match="no peer 'flink'"):
        SpineSettings(against=("flink",))
    assert len(set(ITEMS)) == 10


def test_a_peer_that_cannot_run_is_left_out_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> dict[str, str]:
        raise ExternalFailure("no connector here")

    monkeypatch.setitem(CONFS, "pyspark-kafka", refuse)
    said: list[str] = []
    peers = Peers(("pyspark-kafka",), tmp_path, said.append)
    assert peers.ask("pyspark-kafka", {"run": "rate"}) is None
    assert peers.ask("pyspark-kafka", {"run": "rate"}) is None
    assert said == ["pyspark-kafka is left out: no connector here"]
    assert peers.names(("pyspark-kafka",)) == []
    peers.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_one_item_against_one_peer() -> None:
    command = [sys.executable, "-m", "headrace", "bench", "spine", "--rows", "2000", "--items", "filter"]
    done = subprocess.run([*command, "--against", "pyspark", "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *table, last = done.stdout.splitlines()
    assert table[0].split() == ["item", "unit", "ours", "pyspark"]
    report = json.loads(last)
    (result,) = report["results"]
    assert (report["suite"], result["name"], result["unit"]) == ("spine", "filter", "rows/s")
    assert result["ratio"]["pyspark"] == pytest.approx(result["ours"] / result["peers"]["pyspark"], rel=0.01)
