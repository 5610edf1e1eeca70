"""Segments: what another process can do to shared memory, and what the machine has no room for."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.errors import InvalidInput
from headrace.memory import Buffer, NoRoom, Pool, Segment
from headrace.memory.room import require_room

PAGE = mmap.PAGESIZE


def descriptor_of(segment: Segment) -> int:
    assert segment.descriptor is not None
    return segment.descriptor


def test_sizes_are_whole_pages() -> None:
    assert [len(Segment.heap(1)), len(Segment.shared(PAGE + 1))] == [PAGE, 2 * PAGE]
    with pytest.raises(InvalidInput, match="at least 1 byte"):
        Segment.heap(0)


def test_others_see_what_the_owner_writes() -> None:
    segment = Segment.shared(PAGE)
    with mmap.mmap(descriptor_of(segment), PAGE, prot=mmap.PROT_READ) as theirs:
        segment.view[:3] = b"abc"
        assert theirs[:3] == b"abc"


def test_a_buffer_of_a_shared_pool_is_found_by_its_place() -> None:
    pool = Pool(PAGE, slots=3, memory="shared")
    held = [pool.loan(3) for _ in range(3)]
    for number, loan in enumerate(held):
        loan.edit()[:] = bytes([number]) * 3
    for number, loan in enumerate(held):
        place = loan.slice(1, 2).place()
        with mmap.mmap(place.descriptor, place.segment_bytes, prot=mmap.PROT_READ) as theirs:
            assert theirs[place.offset : place.offset + place.length] == bytes([number]) * 2
    for other in (Pool(PAGE).loan(3), Buffer.over(b"abc")):
        with pytest.raises(InvalidInput, match="no other process can map"):
            other.place()


def test_nobody_else_can_write_to_a_shared_segment() -> None:
    segment = Segment.shared(PAGE)
    segment.view[:3] = b"abc"
    descriptor = descriptor_of(segment)
    with pytest.raises(PermissionError):
        mmap.mmap(descriptor, PAGE)
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    # A descriptor for reading can be opened again for writing.
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    try:
        with pytest.raises(PermissionError):
            mmap.mmap(again, PAGE)
    finally:
        os.close(again)
    assert bytes(segment.view[:3]) == b"abc"


def test_nobody_can_shorten_it_lengthen_it_or_punch_holes() -> None:
    segment = Segment.shared(2 * PAGE)
    descriptor = descriptor_of(segment)
    for size in (0, PAGE, 3 * PAGE):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
    keep_size_and_punch = 3
    assert libc.fallocate(descriptor, keep_size_and_punch, 0, PAGE) == -1


def test_a_file_is_for_reading(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    segment = Segment.file(tmp_path / "file")
    assert (segment.kind, bytes(segment.view), segment.view.readonly) == ("file", b"abc", True)


def test_huge_pages_that_are_not_there_are_refused_with_the_remedy() -> None:
    free = int(next(line for line in Path("/proc/meminfo").read_text().splitlines() if "HugePages_Free" in line)[16:])
    size = (free + 64) * (2 << 20)
    with pytest.raises(NoRoom, match=f"set vm.nr_hugepages to {free + 64}"):
        Segment.shared(size, huge_pages="require")
    with pytest.raises(InvalidInput, match="heap cannot require"):
        Segment.heap(1, huge_pages="require")


def test_every_page_is_there_before_the_first_loan() -> None:
    """A page that is missing would be a page fault of whoever fills the slot."""
    segment = Segment.shared(8 << 20)
    maps = Path("/proc/self/smaps").read_text()
    fields = maps[maps.index(f"{segment.address:x}-{segment.address + len(segment):x} ") :].split("VmFlags")[0]
    resident_kb = next(line.split()[1] for line in fields.splitlines() if line.startswith("Rss:"))
    assert int(resident_kb) == 8 << 10


def cgroup(tmp_path: Path, *, maximum: str, current: int, inactive: int) -> tuple[Path, Path]:
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/app/worker\n")
    (proc / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 800 kB\n")
    (groups / "app" / "worker").mkdir(parents=True)
    (groups / "app" / "worker" / "memory.max").write_text("max\n")
    (groups / "app" / "memory.max").write_text(maximum)
    (groups / "app" / "memory.current").write_text(str(current))
    (groups / "app" / "memory.stat").write_text(f"anon 5\ninactive_file {inactive}\n")
    return proc, groups


def test_the_limit_of_a_cgroup_above_is_named(tmp_path: Path) -> None:
    proc, groups = cgroup(tmp_path, maximum="1000", current=900, inactive=50)
    require_room(150, proc=proc, cgroups=groups)
    with pytest.raises(NoRoom, match=r"needs 151 bytes, and .*app/memory.max \(1,000\) leaves 150"):
        require_room(151, proc=proc, cgroups=groups)


def test_the_memory_of_the_machine_is_a_limit(tmp_path: Path) -> None:
    proc, groups = cgroup(tmp_path, maximum="max", current=0, inactive=0)
    with pytest.raises(NoRoom, match="MemAvailable of the machine leaves 819,200"):
        require_room(819_201, proc=proc, cgroups=groups)
    with pytest.raises(NoRoom, match="MemAvailable"):
        Pool(1 << 40)


def test_what_cannot_be_read_is_no_limit(tmp_path: Path) -> None:
    require_room(1 << 50, proc=tmp_path, cgroups=tmp_path)


@pytest.mark.parametrize("memory", ["heap", "shared"])
def test_a_limit_of_the_process_is_a_clear_error(memory: str) -> None:
    script = f"""
import resource
from headrace.memory import NoRoom, Pool
taken = int(open("/proc/self/statm").read().split()[0]) * {PAGE}
resource.setrlimit(resource.RLIMIT_AS, (taken + (64 << 20),) * 2)
try:
    Pool(1 << 20, slots=256, memory={memory!r})
except NoRoom as error:
    print(error.message)
print(Pool(1 << 20, slots=2, memory={memory!r}).loan(1).nbytes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "268,435,456 bytes: Cannot allocate memory" in done.stdout
    assert done.stdout.endswith("\n1\n")
