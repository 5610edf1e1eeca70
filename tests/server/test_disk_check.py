from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.process.disk import DiskSpace
from headrace.server.disk_check import DiskCheck
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.notices import Notice, Notices

MEGABYTE = 1 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 40 MB."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={40 * MEGABYTE}", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mount is NOT ALLOWED here: the check of free space is not tried on a real disk")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_full_disk_is_reported_when_it_begins_and_when_it_ends(disk: Path) -> None:
    bus = EventBus()
    said: list[str] = []
    notices = Notices(bus)
    notices.said = said.append
    check = DiskCheck(disk, notices)
    assert check.look().free_bytes > 30 * MEGABYTE
    assert not current(notices)

    (disk / "much").write_bytes(bytes(38 * MEGABYTE + MEGABYTE // 2))
    for _ in range(3):
        assert check.look().is_nearly_full
    (disk / "rest").write_bytes(bytes(MEGABYTE))
    check.look()
    assert [notice.message for notice in current(notices)] == [f"the disk of {disk} is full"]
    assert "free some space" in str(current(notices)[0].hint)

    (disk / "rest").unlink()
    check.look()
    assert len(current(notices)) == 1, "a little more than the limit is not yet enough"
    (disk / "much").unlink()
    check.look()
    assert not current(notices)
    assert said == [f"the disk of {disk} is nearly full: 1 MB are free", f"the disk of {disk} has space again"]
    assert [(event.kind, event.details["begins"]) for event in bus.history()] == [("system", True), ("system", False)]


def current(notices: Notices) -> tuple[Notice, ...]:
    return notices.current


def test_the_limit_of_a_large_disk_is_a_fixed_size_and_of_a_small_one_a_share() -> None:
    here = Path("here")
    assert not DiskSpace(here, 300 * MEGABYTE, 10**12).is_nearly_full
    assert DiskSpace(here, 200 * MEGABYTE, 10**12).is_nearly_full
    assert not DiskSpace(here, 6 * MEGABYTE, 100 * MEGABYTE).is_nearly_full
    assert DiskSpace(here, 4 * MEGABYTE, 100 * MEGABYTE).is_nearly_full
