"""An attempt of a task in a process of its own, that ends when it is released: Spark knows nothing of it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa

from headrace.operators.plugin_folder import use_plugin_folder
from headrace.serial import LaneInput
from headrace.spark.chains.orders import Orders
from headrace.spark.chains.task import lane_task
from headrace.spark.specs import SinkSpec

DEADLINE_S = 120.0


def main(folder: Path, lane: int) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not (folder / "release").exists() and time.monotonic() < deadline_s:
        time.sleep(0.02)
    orders = Orders.from_json((folder / "orders").read_text())
    use_plugin_folder(orders.plugins)
    with pa.ipc.open_stream((folder / "rows").read_bytes()) as rows:
        inputs = [LaneInput(batch) for batch in rows]
    told = (folder / "sink").read_text()
    list(lane_task(orders, lane, inputs, sink=SinkSpec.from_json(told) if told else None))
    (folder / "ended").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
