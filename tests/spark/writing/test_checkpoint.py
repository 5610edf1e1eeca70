"""Whatever a power loss did to Spark's files, afterwards they say what the commit record says."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headrace.spark.reading.positions import source_offsets
from headrace.spark.writing.checkpoint import Checkpoint
from headrace.spark.writing.commit import OPENED, CommitRecord


def planned(batch: int) -> str:
    return f'v1\n{{"batchWatermarkMs":{batch}}}\n{{"0":{batch * 10}}}'


def noted(batch: int) -> str:
    return f'v1\n{{"nextBatchWatermarkMs":{batch}}}'


def record(batch: int) -> CommitRecord:
    previous = (planned(batch - 1), noted(batch - 1)) if batch else (None, None)
    return CommitRecord(batch, 0, "plan", {"rows": {"0": 0}}, planned(batch), *previous)


def write(directory: Path, kind: str, batch: int, text: str) -> None:
    path = directory / kind / str(batch)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


damage = st.sampled_from(["whole", "empty", "torn", "gone"])


@given(st.integers(0, 4), st.lists(st.tuples(damage, damage), min_size=6, max_size=6))
def test_rebuilt_from_any_damage(tmp_path_factory: object, last: int, states: list[tuple[str, str]]) -> None:
    directory: Path = tmp_path_factory.mktemp("checkpoint")  # type: ignore[attr-defined]
    for batch, damages in enumerate(states):
        for kind, text, how in (
            ("offsets", planned(batch), damages[0]),
            ("commits", noted(batch), damages[1]),
        ):
            if how != "gone":
                write(directory, kind, batch, {"whole": text, "empty": "", "torn": text[: len(text) // 2]}[how])
    (directory / "metadata").write_text("")

    checkpoint = Checkpoint(directory)
    checkpoint.rebuild(record(last))

    assert checkpoint.offsets(last) == planned(last)
    if last:
        assert checkpoint.offsets(last - 1) == planned(last - 1)
        assert checkpoint.commit(last - 1) == noted(last - 1)
    assert checkpoint.offsets(last + 1) is None
    assert checkpoint.commit(last + 1) is None
    assert checkpoint.commit(last) in (noted(last), None)
    assert json.loads((directory / "metadata").read_text())["id"]


def test_a_query_that_was_only_opened_begins_with_nothing(tmp_path: Path) -> None:
    write(tmp_path / "checkpoint", "offsets", 0, planned(0))
    Checkpoint(tmp_path / "checkpoint").rebuild(CommitRecord(OPENED, 0, "plan", {"rows": {"0": 7}}))
    assert not (tmp_path / "checkpoint").exists()


def test_records_survive_their_encoding() -> None:
    assert CommitRecord.from_bytes(record(3).to_bytes()) == record(3)


def test_only_the_sources_must_agree_between_two_runs_of_a_batch() -> None:
    again = planned(3).replace('"batchWatermarkMs":3', '"batchWatermarkMs":99')
    assert source_offsets(again) == source_offsets(planned(3))
