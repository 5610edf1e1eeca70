"""A backup of a job that goes on: restored, the job continues from the moment of the backup, with its state."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.backup import create_backup, open_objects, restore_backup
from headrace.spark import Engine, EngineSettings
from headrace.wire.testing import BrokerProcess

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS: list[dict[str, Any]] = [{"k": f"d{n % 5}", "n": n} for n in range(400)]
CHUNK = 10
BACKUPS = 3


def counts(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Each number, and how many of its key came up to it."""
    return sorted((row["n"], row["n"] // 5 + 1) for row in rows)


def send(stack: Stack, topic: str, rows: list[dict[str, Any]]) -> None:
    for first in range(0, len(rows), CHUNK):
        stack.produce(topic, rows[first : first + CHUNK])


def test_a_restored_job_goes_on_with_its_state(stack: Stack, tmp_path: Path) -> None:
    source, target = stack.topic("in"), stack.name("out")
    window = 'length-window 1000 keys=k aggregates=["count(*) AS seen"]'
    document = stack.pipeline(
        f'topic {source} schema="k STRING, n BIGINT" max_rows_per_batch=20 ! {window} ! select n seen'
        f" ! to-topic {target}"
    )
    objects = open_objects(str(tmp_path / "backup"))
    stack.engine.start(document)
    sending = threading.Thread(target=send, args=(stack, source, ROWS))
    sending.start()
    for _ in range(BACKUPS):
        create_backup(stack.data, objects, bootstrap=stack.bootstrap)
    sending.join()
    stack.finish(document)
    assert sorted((row["n"], row["seen"]) for row in stack.rows(target)) == counts(ROWS)

    data = tmp_path / "restored"
    restore_backup(objects, data)
    broker = BrokerProcess(data / "log")
    broker.start()
    try:
        with Engine(EngineSettings(data, broker.bootstrap, data / "log")) as engine:
            restored = dataclasses.replace(stack, bootstrap=broker.bootstrap, data=data, engine=engine)
            there = {row["n"] for row in restored.rows(source)}
            assert len(there) < len(ROWS), "the backups came before the end"
            restored.produce(source, [row for row in ROWS if row["n"] not in there])
            restored.run(document)
            assert sorted((row["n"], row["seen"]) for row in restored.rows(target)) == counts(ROWS)
    finally:
        broker.stop()
