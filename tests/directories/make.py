"""Makes a data directory with running pipelines of every kind, killed at work, and what they write in the end.

Run it with the release whose formats are to be kept readable:

    git worktree add ../old COMMIT && cd ../old && make setup
    .venv/bin/python ../headrace/tests/directories/make.py COMMIT ../headrace/tests/directories
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import zstandard
from confluent_kafka import Consumer, TopicPartition

from headrace.errors import NotFound
from headrace.process import RunInfo
from headrace.server.client import ServerClient

# Of this checkout; all else is of the release that runs it.
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.directories import workload

# Made anew at each start, or a secret.
LEFT_OUT = ("logs", "spark", "run.json", "lock", "token")
START_TIMEOUT_S = 180.0


def up(data: Path) -> tuple[subprocess.Popen[bytes], RunInfo]:
    command = [sys.executable, "-m", "headrace", "up", "--data-dir", str(data), "--port", "0", "--http-port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while True:
        assert process.poll() is None, "headrace ended"
        assert time.monotonic() < deadline_s, "headrace did not start"
        # A file of the process that was killed may still lie there.
        with suppress(NotFound):
            return process, RunInfo.read(data)
        time.sleep(0.2)


def kill(process: subprocess.Popen[bytes], info: RunInfo) -> None:
    """All at once, as a power cut would."""
    for pid in (process.pid, info.server_pid, info.broker_pid):
        os.killpg(pid, signal.SIGKILL)
    process.wait()
    time.sleep(2)


def commit_of_a_group(bootstrap: str) -> None:
    settings = {"bootstrap.servers": bootstrap, "group.id": "readers", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.commit(offsets=[TopicPartition("events", 0, 17), TopicPartition("events", 1, 4)], asynchronous=False)
    consumer.close()


def main(name: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        process, info = up(data)
        workload.prepare(info.bootstrap)
        with ServerClient(info) as client:
            for pipeline in workload.pipelines():
                client.save(pipeline)
                client.start(pipeline["name"])
                print("started", pipeline["name"], flush=True)
            workload.feed(info.bootstrap, workload.BEFORE)
            workload.wait_settled(client)
            commit_of_a_group(info.bootstrap)
            client.signal({"kind": "pause", "pipeline": workload.PAUSED})
            client.stop(workload.STOPPED)
            # Rows that are under way when everything is killed.
            workload.feed(info.bootstrap, workload.UNDER_WAY)
        time.sleep(1)
        kill(process, info)
        keep(data, target / f"{name}.tar.zst")
        process, info = up(data)
        with ServerClient(info) as client:
            workload.go_on(client, info.bootstrap)
            found = workload.records(info.bootstrap, workload.outputs())
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)
    for topic, values in found.items():
        print(topic, len(values))
    packed = zstandard.compress(json.dumps(found, indent=0).encode(), 19)
    (target / f"{name}.json.zst").write_bytes(packed)


def keep(data: Path, target: Path) -> None:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w") as archive:
        for entry in sorted(data.iterdir()):
            if entry.name not in LEFT_OUT:
                archive.add(entry, entry.name, filter=anonymous)
    target.write_bytes(zstandard.compress(kept.getvalue(), 19))
    print(target.name, f"{target.stat().st_size / 1024:.0f} KiB, {len(kept.getvalue()) / 1024:.0f} KiB unpacked")


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
