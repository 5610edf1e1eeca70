from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from headrace.bench.rows import MICRO_BATCHES, PARTITIONS, blocks, json_values, write_file


def test_the_same_seed_gives_the_same_rows() -> None:
    first, again, other = (list(blocks(1_000, seed)) for seed in (1, 1, 2))
    assert [block.rows for block in first] == [block.rows for block in again]
    assert first[0].rows != other[0].rows


def test_every_micro_batch_has_a_block_for_every_partition() -> None:
    made = list(blocks(1_003))
    places = [(block.batch, block.partition) for block in made]
    assert places == [(batch, partition) for batch in range(MICRO_BATCHES) for partition in range(PARTITIONS)]
    assert sum(block.rows.num_rows for block in made) == 1_003


def test_about_a_tenth_has_a_low_battery() -> None:
    low = sum(battery < 10 for block in blocks(20_000) for battery in block.rows["battery"].to_numpy())
    assert 1_800 < low < 2_200


def test_values_say_in_json_what_the_columns_say(tmp_path: Path) -> None:
    block = next(blocks(800))
    values = [json.loads(str(value)) for value in json_values(block.rows)]
    rows = [{**row, "ts": datetime.fromisoformat(row["ts"])} for row in values]
    assert rows == block.rows.to_pylist()
    write_file(block, tmp_path)
    (file,) = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 100
