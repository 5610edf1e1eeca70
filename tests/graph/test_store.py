from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headrace.errors import Conflict, CorruptData, DiskFailure, ExternalFailure, InvalidInput, NotFound
from headrace.graph import Document, Layout, Node, Store, database
from headrace.graph.diff import SettingChanged


def preview(rows: int, name: str = "alerts") -> Document:
    return Document(name, (Node("p", "preview", {"rows": rows}),))


class Clock:
    """Every look takes a minute."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "versions.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path, Clock())
    yield opened
    opened.close()


def test_every_save_is_a_version_with_note_time_and_author(store: Store) -> None:
    first = store.save(preview(1), note="first", author="ada")
    second = store.save(preview(2), note="more", author="bob")
    assert (first.is_new, second.is_new) == (True, True)
    assert store.versions("alerts") == (first.version, second.version)
    info = second.version
    assert (info.number, info.note, info.author) == (2, "more", "bob")
    assert info.saved_at == datetime(2026, 1, 1, 0, 2, tzinfo=UTC)
    assert info.content_hash == preview(2).content_hash
    assert store.latest("alerts").document == preview(2)
    assert store.get("alerts", 1).document == preview(1)


def test_an_unchanged_document_makes_no_version(store: Store) -> None:
    first = store.save(preview(1), note="first")
    again = store.save(preview(1), note="again")
    assert (again.is_new, again.version) == (False, first.version)
    assert len(store.versions("alerts")) == 1


def test_going_back_to_an_older_document_is_a_new_version(store: Store) -> None:
    for rows in (1, 2, 1):
        assert store.save(preview(rows)).is_new
    assert store.get("alerts", 1).info.content_hash == store.latest("alerts").info.content_hash


def test_layout_is_kept_beside_and_makes_no_version(store: Store) -> None:
    store.save(preview(1), layout=Layout({"p": (1, 2.5)}))
    assert not store.save(preview(1), layout=Layout({"p": (9, 9)})).is_new
    assert store.latest("alerts").layout == Layout({"p": (9.0, 9.0)})
    store.save(preview(2))
    assert store.latest("alerts").layout == Layout({"p": (9.0, 9.0)})


def test_versions_are_compared(store: Store) -> None:
    store.save(preview(1))
    store.save(preview(2))
    assert store.compare("alerts", 1, 2).changes == (SettingChanged("p", "rows", "1", "2"),)
    assert store.compare("alerts", 2, 2).is_empty


def test_somebody_elses_save_is_noticed(store: Store) -> None:
    store.save(preview(1), expected_version=0)
    store.save(preview(2), expected_version=1)
    with pytest.raises(Conflict, match="is at version 2, not 1"):
        store.save(preview(3), expected_version=1)
    assert store.latest("alerts").info.number == 2


def test_names_that_do_not_exist(store: Store) -> None:
    store.save(preview(1))
    with pytest.raises(NotFound, match="no pipeline is named 'alert'") as caught:
        store.latest("alert")
    assert (caught.value.valid, caught.value.hint) == (("alerts",), "did you mean alerts?")
    with pytest.raises(NotFound, match="has no version 2") as caught:
        store.get("alerts", 2)
    assert caught.value.hint == "it has versions 1 to 1"
    for action in (store.versions, store.archive, store.restore, store.delete):
        with pytest.raises(NotFound):
            action("nothing")
    with pytest.raises(NotFound):
        store.compare("alerts", 1, 5)


def test_pipelines_are_listed_archived_and_deleted(store: Store) -> None:
    for name in ("b", "a", "c"):
        store.save(preview(1, name))
    latest = store.save(preview(2, "b")).version
    store.archive("a")
    assert [pipeline.name for pipeline in store.pipelines()] == ["b", "c"]
    assert store.pipelines()[0].latest == latest
    assert [pipeline.is_archived for pipeline in store.pipelines(include_archived=True)] == [True, False, False]
    store.restore("a")
    store.delete("b")
    assert [pipeline.name for pipeline in store.pipelines()] == ["a", "c"]
    assert store.save(preview(9, "b")).version.number == 1


def test_a_new_version_brings_an_archived_pipeline_back(store: Store) -> None:
    store.save(preview(1))
    store.archive("alerts")
    store.save(preview(2))
    assert [pipeline.is_archived for pipeline in store.pipelines()] == [False]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(InvalidInput, match="no name for a pipeline"):
        store.save(preview(1, name))


def test_a_note_has_a_limit(store: Store) -> None:
    with pytest.raises(InvalidInput, match="are allowed"):
        store.save(preview(1), note="x" * 10_001)


def test_everything_is_there_after_opening_again(path: Path) -> None:
    store = Store(path)
    saved = store.save(preview(1), note="kept")
    store.close()
    store = Store(path)
    assert store.versions("alerts") == (saved.version,)
    assert store.latest("alerts").document == preview(1)
    store.close()


def test_threads_make_one_version_each(store: Store) -> None:
    def save(start: int) -> None:
        for rows in range(start, start + 10):
            store.save(preview(rows))

    threads = [threading.Thread(target=save, args=(start,)) for start in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [info.number for info in store.versions("alerts")] == list(range(1, 41))


def test_two_processes_can_share_the_file(store: Store, path: Path) -> None:
    other = Store(path)
    store.save(preview(1))
    other.save(preview(2))
    assert len(store.versions("alerts")) == 2
    other.close()


def test_a_file_that_another_process_holds(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 10)
    impatient = Store(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ExternalFailure, match="in use by another process") as caught:
        impatient.save(preview(1))
    assert caught.value.retriable
    other.execute("ROLLBACK")
    other.close()
    assert impatient.save(preview(1)).is_new
    impatient.close()


def test_a_newer_file_is_refused_and_left_alone(path: Path) -> None:
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Conflict, match=f"has format 99; this version reads up to {len(database.MIGRATIONS)}"):
        Store(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


def test_an_older_file_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(path)
    store.save(preview(1))
    store.close()
    migrations = (*database.MIGRATIONS, "ALTER TABLE pipelines ADD COLUMN colour TEXT")
    monkeypatch.setattr(database, "MIGRATIONS", migrations)
    store = Store(path)
    assert store.latest("alerts").document == preview(1)
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT colour FROM pipelines").fetchall() == [(None,)]
    connection.close()


def test_versions_from_before_it_was_noted_which_ran_count_as_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", database.MIGRATIONS[:2])
        database.Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO pipelines (name) VALUES ('alerts')")
    for number in (1, 2):
        document = preview(number)
        values = ("alerts", number, "", "", f"2026-01-0{number}T00:00:00+00:00", document.content_hash)
        insert = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, '{}')"
        connection.execute(insert, (*values, document.to_json()))
    connection.commit()
    connection.close()
    store = Store(path)
    assert all(version.ran_at is not None for version in store.versions("alerts"))
    assert store.runs_next("alerts").info.number == 2
    store.close()


def test_a_start_takes_what_ran_last_or_else_the_newest(store: Store) -> None:
    for rows in (1, 2, 3):
        store.save(preview(rows))
    assert store.runs_next("alerts").info.number == 3
    store.note_run("alerts", 2)
    store.save(preview(4))
    assert store.runs_next("alerts").info.number == 2
    assert [version.ran_at is None for version in store.versions("alerts")] == [True, False, True, True]
    (info,) = store.pipelines()
    assert (info.latest.number, info.runs_next) == (4, 2)
    store.note_run("alerts", 1)
    assert store.runs_next("alerts").info.number == 1
    with pytest.raises(NotFound):
        store.runs_next("nothing")


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_bytes(b"not a database, but quite long " * 100)
    with pytest.raises(CorruptData, match="no version store"):
        Store(path)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(DiskFailure, match="missing"):
        Store(tmp_path / "missing" / "versions.sqlite")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("document", preview(2).to_json(), "does not match its hash"),
        ("document", "{", "cannot be read"),
        ("layout", '{"p": [1]}', "cannot be read"),
        ("layout", "[]", "cannot be read"),
    ],
)
def test_a_damaged_version_is_reported(store: Store, path: Path, column: str, value: str, message: str) -> None:
    store.save(preview(1))
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE versions SET {column} = ?", (value,))
    connection.commit()
    connection.close()
    with pytest.raises(CorruptData, match=message):
        store.latest("alerts")


def test_positions_are_finite_numbers() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        Layout({"p": (float("nan"), 0)})
    with pytest.raises(InvalidInput, match="position of 'p'"):
        Layout.from_json('{"p": ["1", 2]}')
    with pytest.raises(InvalidInput, match="no JSON"):
        Layout.from_json("{")
    assert Layout.from_json('{"p": [1, 2.5]}').to_json() == '{"p":[1.0,2.5]}'
