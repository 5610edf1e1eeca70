from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.errors import Conflict, CorruptData, DiskFailure, InvalidInput, NotFound
from headrace.process import DATA_FORMAT, DataDirectory, RunInfo, write_atomically


def test_directory_is_made_with_its_format(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "new" / "data") as data:
        assert (data.path / "format").read_text().strip() == str(DATA_FORMAT)
        assert (data.path / "lock").read_text() == str(os.getpid())


def test_second_owner_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path), pytest.raises(Conflict, match=f"in use by process {os.getpid()}"):
        DataDirectory.open(tmp_path)
    DataDirectory.open(tmp_path).close()


def test_lock_of_a_dead_owner_is_waited_for(tmp_path: Path) -> None:
    """A child that outlives its parent holds the inherited lock until it ends."""
    data = DataDirectory.open(tmp_path)
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    heir = subprocess.Popen(["sleep", "0.3"], pass_fds=(data.lock_descriptor,))
    os.pwrite(data.lock_descriptor, gone.stdout.strip().ljust(8), 0)
    os.truncate(data.lock_descriptor, len(gone.stdout.strip()))
    data.close()
    DataDirectory.open(tmp_path).close()
    assert heir.wait() == 0


def test_older_format_is_marked_as_this_one(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("1\n")
    DataDirectory.open(tmp_path).close()
    assert (tmp_path / "format").read_text() == f"{DATA_FORMAT}\n"


def test_newer_format_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("99\n")
    with pytest.raises(InvalidInput, match=r"format 99; this version of Headrace reads up to"):
        DataDirectory.open(tmp_path)
    assert (tmp_path / "format").read_text() == "99\n"


def test_garbled_format_is_reported(tmp_path: Path) -> None:
    (tmp_path / "format").write_bytes(b"\xffgarbage")
    with pytest.raises(CorruptData, match="should hold a number"):
        DataDirectory.open(tmp_path)


def test_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be used"):
        DataDirectory.open(tmp_path / "file")


def info(pid: int) -> RunInfo:
    return RunInfo(pid, 2, 3, "127.0.0.1:9092", 8484, "secret")


def test_run_file_is_private_and_read_back(tmp_path: Path) -> None:
    info(os.getpid()).write(tmp_path)
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600
    assert RunInfo.read(tmp_path) == info(os.getpid())
    RunInfo.remove(tmp_path)
    with pytest.raises(NotFound, match="no Headrace runs"):
        RunInfo.read(tmp_path)


def test_run_file_of_a_dead_process(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    info(gone.pid).write(tmp_path)
    with pytest.raises(NotFound, match="is gone"):
        RunInfo.read(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"pid": 1}', "null"])
def test_garbled_run_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(CorruptData, match="cannot be read"):
        RunInfo.read(tmp_path)


def test_refused_write_is_a_disk_failure_and_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFailure, match="No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_a_directory_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "log").mkdir(parents=True)
    (data / "log" / "segment").write_text("acked")
    (data / "program").touch()
    outside = tmp_path / "outside"
    outside.touch()
    (data / "link").symlink_to(outside)
    for path, mode in ((data, 0o755), (data / "log" / "segment", 0o644), (data / "program", 0o755), (outside, 0o644)):
        path.chmod(mode)
    with DataDirectory.open(data) as opened:
        assert opened.note is not None
        assert "it is now private" in opened.note
    modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.rglob("*"))}
    assert modes.pop("link") == 0o644, "what lies elsewhere is left alone"
    assert modes == {"data": 0o700, "log": 0o700, "segment": 0o600, "program": 0o700, "lock": 0o600, "format": 0o600}
    with DataDirectory.open(data) as again:
        assert again.note is None, "it is told once"
