"""Files as memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.memory import MappedFile


def test_the_content_is_there_without_a_copy_and_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello")
    mapped = MappedFile(path)
    assert (bytes(mapped.view), len(mapped)) == (b"hello", 5)
    assert mapped.view.readonly
    with path.open("r+b") as file:
        file.write(b"j")
    assert bytes(mapped.view) == b"jello"


def test_the_memory_outlives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)
    view = MappedFile(path).view
    path.unlink()
    assert bytes(view) == b"x" * 100_000


def test_a_file_keeps_the_length_it_had(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    mapped = MappedFile(path)
    with path.open("ab") as file:
        file.write(b"def")
    assert bytes(mapped.view) == b"abc"


def test_an_empty_file_is_empty_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert len(MappedFile(tmp_path / "file")) == 0


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MappedFile(tmp_path / "none")
