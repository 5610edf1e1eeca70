"""docs/broker-limits.md says of every limit what the code says."""

from __future__ import annotations

import dataclasses
import re
from importlib import import_module
from pathlib import Path

from headrace.wire.config import BrokerConfig

PAGE = (Path(__file__).parents[2] / "docs" / "broker-limits.md").read_text()
NO_LIMITS = {"port", "node_id", "default_partition_count"}


def rows(heading: str) -> dict[str, str]:
    """First cell to second cell of the table below a heading."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([\w.]+)` \| ([\d.]+) \|", section, re.MULTILINE))


def test_every_setting_that_is_a_number_is_there_with_its_default() -> None:
    numbers = {field.name: str(field.default) for field in dataclasses.fields(BrokerConfig) if field.type == "int"}
    assert rows("Settings") == {name: value for name, value in numbers.items() if name not in NO_LIMITS}


def test_every_constant_has_its_value() -> None:
    found = rows("Constants")
    assert len(found) > 20
    for place, value in found.items():
        module, name = place.rsplit(".", 1)
        assert str(getattr(import_module(f"headrace.{module}"), name)) == value, place
