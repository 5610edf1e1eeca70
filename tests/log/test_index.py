"""Index lookups give what a linear scan gives, with sound and with damaged files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.log import OsStorage, encode_batches
from headrace.log.batch import PREFIX, read_header
from headrace.log.index import INDEX_INTERVAL_BYTES
from headrace.log.segment import Segment, segment_path

BASE = 1000


def write_segment(directory: Path, sizes: list[int]) -> Segment:
    """One record per batch, of the sizes given, timestamps rising and falling."""
    segment = Segment(OsStorage(), directory, BASE, create=True)
    for number, size in enumerate(sizes):
        content = next(encode_batches(None, [bytes(size)], [number * 7 % 50]))
        header = read_header(content)._replace(base_offset=BASE + number)
        prefix = PREFIX.pack(header.base_offset, header.length, 0)
        segment.file.write([prefix, memoryview(content)[PREFIX.size :]], segment.size_bytes)
        segment.note(header)
    return segment


def starts(segment: Segment) -> list[int]:
    return [located.position for located in segment.walk(0, segment.size_bytes)]


sizes = st.lists(st.sampled_from([10, 3000, 9000, 40_000]), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(sizes=sizes, damage=st.lists(st.tuples(st.booleans(), st.integers(0, 400), st.integers(1, 255)), max_size=3))
def test_lookups_equal_a_scan(
    fresh_directory: Callable[[], Path], sizes: list[int], damage: list[tuple[bool, int, int]]
) -> None:
    directory = fresh_directory()
    write_segment(directory, sizes)
    for time_index, place, flip in damage:
        path = segment_path(directory, BASE, ".timeindex" if time_index else ".index")
        content = bytearray(path.read_bytes())
        content[place % len(content)] ^= flip
        path.write_bytes(content)
    segment = Segment(OsStorage(), directory, BASE)
    segment.load()
    positions = starts(segment)
    assert (segment.end_offset, len(positions)) == (BASE + len(sizes), len(sizes))
    assert segment.max_timestamp_ms == max(number * 7 % 50 for number in range(len(sizes)))
    for number, position in enumerate(positions):
        assert segment.locate(BASE + number) == position
        limit = position + 5000
        boundaries = [p for p in [*positions, segment.size_bytes] if p <= limit]
        assert segment.boundary(position, limit) == boundaries[-1]
    for time_ms in range(52):
        first = next((p for n, p in enumerate(positions) if n * 7 % 50 >= time_ms), segment.size_bytes)
        assert segment.index.position_before_time(time_ms) <= first


def test_the_index_is_sparse(tmp_path: Path) -> None:
    segment = write_segment(tmp_path, [1000] * 200)
    batch_bytes = segment.size_bytes // 200
    fewest, most = (
        segment.size_bytes // (INDEX_INTERVAL_BYTES + batch_bytes),
        segment.size_bytes // INDEX_INTERVAL_BYTES,
    )
    assert fewest <= len(segment.index) <= most + 1


def test_missing_index_files_are_written_again(tmp_path: Path) -> None:
    before = {len(write_segment(tmp_path, [5000] * 30).index)}
    for suffix in (".index", ".timeindex"):
        segment_path(tmp_path, BASE, suffix).unlink()
    segment = Segment(OsStorage(), tmp_path, BASE)
    segment.load()
    assert {len(segment.index)} == before
    assert {len(Segment(OsStorage(), tmp_path, BASE).index)} == before
