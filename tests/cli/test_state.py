"""`headrace state show` and `headrace operator new`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from headrace.cli import app
from headrace.errors import Conflict, NotFound
from headrace.serial import Progress, Version
from headrace.serial.versions import Change
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.writing.commit import CommitLog, CommitRecord
from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess


def test_state_is_shown_as_committed_and_nobody_is_fenced(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path / "data")
    broker.start()
    try:
        version = Version((Change("3-aa", range(32), 100), Change("4-bb", range(1), 10)))
        chain = ChainRecord({"window": {1: version, 0: version}}, Progress(watermark_us=5_000_000), 2).to_json()
        with Client(broker.bootstrap, client_id="writer") as client:
            log = CommitLog(client, "shop.window")
            log.create()
            log.commit(CommitRecord(4, 0, "identity", {"rows": {"0": 0}}, chain=chain), {})
            shown = CliRunner().invoke(app, ["state", "show", "shop", "--bootstrap", broker.bootstrap, "--json"])
            # Had the command fenced, this would be refused.
            log.commit(CommitRecord(5, 0, "identity", {"rows": {"0": 0}}, chain=chain), {})
        lanes = json.loads(shown.stdout)["lanes"]
        assert [(lane["node"], lane["lane"], lane["changes"], lane["bytes"]) for lane in lanes] == [
            ("window", 0, 2, 110),
            ("window", 1, 2, 110),
        ]
        assert lanes[0]["watermark"] == "1970-01-01T00:00:05+00:00"
        missing = CliRunner().invoke(app, ["state", "show", "other", "--bootstrap", broker.bootstrap])
        assert isinstance(missing.exception, NotFound)
    finally:
        broker.stop()


def test_a_new_operator_is_written_once(tmp_path: Path) -> None:
    arguments = ["operator", "new", "my-window", "--into", str(tmp_path / "mine"), "--json"]
    written = json.loads(CliRunner().invoke(app, arguments).stdout)["files"]
    assert sorted(Path(file).name for file in written) == ["my_window.py", "test_my_window.py"]
    assert isinstance(CliRunner().invoke(app, arguments).exception, Conflict)
    keyed = CliRunner().invoke(app, ["operator", "new", "silent", "--keyed", "--into", str(tmp_path)])
    assert keyed.exit_code == 0
    assert "class Silent(KeyedOperator[" in (tmp_path / "silent.py").read_text()
