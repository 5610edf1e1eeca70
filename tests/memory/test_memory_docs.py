"""The page about memory: its example runs, and its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

import headrace.memory
from headrace.memory import Buffer, Pool
from headrace.memory.formats import LAYOUTS, NAMES, SAMPLES, parse_format

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text()


def test_the_example_runs_and_leaves_no_loan() -> None:
    example = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(example, names)
    pool = names["pool"]
    assert isinstance(pool, Pool)
    assert (pool.stats.slots_lent, pool.stats.copies) == (0, 0)


def test_the_tables_name_what_there_is() -> None:
    texts = re.findall(r"^\| `([a-z]+(?:/[^`]+)?)` \| `[A-Z]", PAGE, re.MULTILINE)
    assert [str(parse_format(text)).partition("/")[0] for text in texts] == list(NAMES)
    for name in (*LAYOUTS, *SAMPLES):
        assert f"`{name}`" in PAGE
    for call in re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE):
        assert hasattr(Buffer, call) or hasattr(Pool, call), call
    assert all(hasattr(headrace.memory, name) for name in headrace.memory.__all__)
