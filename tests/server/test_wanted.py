from __future__ import annotations

from pathlib import Path

import pytest

from headrace.errors import CorruptData
from headrace.server.wanted import WantedState


def test_wanted_pipelines_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "wanted.json"
    state = WantedState(path)
    assert state.versions == {}
    state.want("drones", 3)
    state.want("heights", 1)
    state.want("drones", 4)
    assert WantedState(path).versions == {"drones": 4, "heights": 1}
    state.forget("heights")
    state.forget("never")
    assert WantedState(path).versions == {"drones": 4}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2, "pipelines": {}}', '{"format": 1}', '{"format": 1, "pipelines": {"a": "x"}}']
)
def test_garbled_file_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wanted.json"
    path.write_text(text)
    with pytest.raises(CorruptData, match=r"wanted\.json"):
        WantedState(path)
