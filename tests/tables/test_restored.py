"""Tables after a restore: an answer holds what their topics hold, not what the copies held when the backup was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.tables.conftest import Log

from headrace.backup import create_backup, open_objects, restore_backup
from headrace.wire.config import BrokerConfig
from headrace.wire.testing import broker_in_thread

if TYPE_CHECKING:
    from headrace.tables import Tables

DECLARED = "CREATE TABLE stock (item STRING PRIMARY KEY, n INT)"


def item(name: str, n: int) -> tuple[str, dict[str, object]]:
    return name, {"item": name, "n": n}


def test_tables_answer_rightly_right_after_a_restore(log: Log, tables: Tables, tmp_path: Path) -> None:
    """Copies are made anew: one that came with the backup might be ahead of the restored topic."""
    tables.declare(DECLARED)
    log.create("stock")
    log.write("stock", [item("pen", 1), item("ink", 2)])
    objects = open_objects(str(tmp_path / "backup"))
    tables.follow()
    create_backup(log.directory, objects, bootstrap=log.bootstrap)
    restored = tmp_path / "data"
    restore_backup(objects, restored)
    assert not (restored / "tables.sqlite").exists()
    with broker_in_thread(BrokerConfig(data_dir=restored / "log", port=0)) as address:
        again = Log(address, restored, [])
        again.write("stock", [item("cap", 5), item("pen", 5)])
        asked = again.tables()
        try:
            answer = asked.ask("SELECT item, n FROM stock ORDER BY item")
        finally:
            asked.close()
    assert answer.rows == (("cap", 5), ("ink", 2), ("pen", 5))
