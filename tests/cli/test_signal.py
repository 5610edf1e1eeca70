"""`headrace signal` against a broker."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from headrace.cli import app
from headrace.errors import InvalidInput
from headrace.wire.client import Client
from headrace.wire.testing import BrokerProcess


def test_signals_are_sent_to_topics_and_listed(tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path / "data")
    broker.start()
    try:
        with Client(broker.bootstrap) as client:
            client.create_topics({"orders": 2})
        to = ["--bootstrap", broker.bootstrap, "--json"]
        parameters = ["--parameter", "limit=3", "-P", "name=low", "--handling", "always", "--node", "n"]
        sent = CliRunner().invoke(app, ["signal", "send", "custom", "--topic", "orders", *parameters, *to])
        placed = json.loads(sent.stdout)
        assert (placed["parameters"], placed["handling"]) == ({"limit": 3, "name": "low"}, "always")
        assert placed["cut"] == {"orders": {"0": 1, "1": 1}}
        spelled = CliRunner().invoke(app, ["signal", "send", "close-window", "-t", "orders", *to[:2]])
        assert "close_window" in spelled.stdout
        assert "placed: orders 0:2 1:2" in spelled.stdout
        listed = json.loads(CliRunner().invoke(app, ["signal", "list", *to]).stdout)["signals"]
        assert [(signal["number"], signal["kind"]) for signal in listed] == [(1, "custom"), (2, "close_window")]
        assert listed[0] == placed
    finally:
        broker.stop()


def test_a_signal_needs_a_pipeline_or_topics_and_readable_parameters() -> None:
    for arguments in (["custom"], ["custom", "-t", "a", "-p", "b"], ["custom", "-t", "a", "-P", "nothing"]):
        assert isinstance(CliRunner().invoke(app, ["signal", "send", *arguments]).exception, InvalidInput)
