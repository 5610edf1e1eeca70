"""Sources and sinks written in Python, at both ends of a pipeline on Spark."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark

DEADLINE_S = 90.0

# One file for each delivery; the first one of the second micro-batch fails when it is written already.
MODULE = """
import asyncio, json
from dataclasses import dataclass
from pathlib import Path
from headrace.serial import Delivery, RowSink

@dataclass
class Place:
    folder: str

class Folder(RowSink):
    def __init__(self, settings: Place):
        self._folder = Path(settings.folder)

    async def write(self, rows, delivery):
        await asyncio.sleep(0)
        path = self._folder / (delivery.key.replace("/", "_") + ".json")
        again = path.exists()
        path.write_text(json.dumps(rows.column("value").to_pylist()))
        if delivery.batch == 1 and not again:
            raise ConnectionError("not now")
        if again:
            (self._folder / "again").touch()
"""


def test_rows_come_from_python_once_and_go_to_python_at_least_once(stack: Stack, tmp_path: Path) -> None:
    name = stack.name("ends").replace("-", "_")
    folder = tmp_path / "delivered"
    folder.mkdir()
    (tmp_path / f"{name}.py").write_text(MODULE)
    assert stack.engine._spark is not None
    stack.engine._spark.sparkContext.addPyFile(str(tmp_path / f"{name}.py"))
    target = stack.name("out")
    document = stack.pipeline(
        'from-python headrace.operators.samples:Countdown settings={"first": 200} max_rows_per_batch=30 as src'
        f' ! to-python {name}:Folder settings={{"folder": {json.dumps(str(folder))}}}\n'
        f"@src ! to-topic {target}"
    )
    stack.engine.start(document, until_end=True)
    deadline_s = time.monotonic() + DEADLINE_S
    while stack.engine.status(document.name).state != "stopped":
        assert time.monotonic() < deadline_s, stack.engine.status(document.name)
        time.sleep(0.1)
    assert sorted(row["value"] for row in stack.rows(target)) == list(range(101, 201))
    assert (folder / "again").exists()
    delivered = [value for path in folder.glob("*.json") for value in json.loads(path.read_text())]
    assert sorted(delivered) == list(range(101, 201))
