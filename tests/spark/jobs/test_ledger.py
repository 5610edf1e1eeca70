"""Names of queries, kept with their pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.errors import CorruptData
from headrace.graph.document import Node
from headrace.spark.jobs.ledger import Entry, Ledger, folders, read_ledger, write_ledger
from headrace.spark.planning.meaning import Meaning


def entry(name: str) -> Entry:
    return Entry(
        name, Meaning(f"id of {name}", (Node("t", "topic", {"topic": "x"}),)), {"t": {"0": 5}}, {"t": {"0": 7}}
    )


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_ledger(tmp_path, "p") is None
    ledger = Ledger((entry("a"),), (entry("b"),), frozenset({"a"}), {"a": 1, "b": 3})
    write_ledger(tmp_path, "p", ledger)
    assert read_ledger(tmp_path, "p") == ledger
    (tmp_path / "p" / "a").mkdir()
    (tmp_path / "p" / "batch").mkdir()
    assert folders(tmp_path, "p") == ["a"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 9}', '{"format": 1, "current": [{}]}'])
def test_a_broken_one_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "queries.json").write_text(content)
    with pytest.raises(CorruptData, match=r"queries\.json"):
        read_ledger(tmp_path, "p")


def test_a_name_is_given_once_unless_nothing_was_committed_under_it() -> None:
    first, ledger = Ledger().named("a", (), ())
    second, ledger = ledger.named("a", ("a",), ())
    third, ledger = ledger.named("a", (), ())
    again, ledger = ledger.named("a", (), ("a.3",))
    assert (first, second, third, again) == ("a", "a.2", "a.3", "a.3")
    assert Ledger().named("a", ("a", "a.2"), ())[0] == "a.3"


def test_replaced_queries_with_commits_stay_until_the_next_change() -> None:
    ledger = Ledger().started([entry("a"), entry("b")], {"a", "b"}, ())
    same = ledger.started([entry("a"), entry("b")], (), {"a", "b"})
    assert not same.former
    assert same.fresh == {"a", "b"}
    changed = same.started([entry("a"), entry("b.2")], {"b.2"}, {"a", "b"})
    assert [one.name for one in changed.former] == ["b"]
    assert changed.fresh == {"b.2"}
    tried = changed.started([entry("a"), entry("b.3")], {"b.3"}, {"a", "b"})
    assert [one.name for one in tried.former] == ["b"], "b.2 committed nothing"
    assert [one.name for one in tried.started([entry("c")], {"c"}, {"a", "b.3"}).former] == ["a", "b.3"]
