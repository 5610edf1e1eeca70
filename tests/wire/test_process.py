"""The broker as a process: when it starts, when it refuses to, and how it stops."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from headrace.errors import InvalidConfig
from headrace.log.directory import FORMAT_FILE, FORMAT_VERSION
from headrace.wire import BrokerConfig, load_config, protocol
from headrace.wire.client import Client
from headrace.wire.messages.fetch import FetchPartition, FetchRequest
from headrace.wire.process import main
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 60.0


def refused(*arguments: str) -> str:
    command = [sys.executable, "-m", "headrace.wire", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE_S, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    said = done.stderr.decode()
    assert "Traceback" not in said
    return said


def test_a_port_in_use_is_named(broker: BrokerProcess, tmp_path: Path) -> None:
    said = refused("--data-dir", str(tmp_path / "other"), "--port", str(broker.port))
    assert f"127.0.0.1:{broker.port}" in said
    assert "hint:" in said


def test_a_data_directory_in_use_is_named_with_its_owner(broker: BrokerProcess) -> None:
    assert str(broker.pid) in refused("--data-dir", str(broker.data_dir), "--port", "0")


def test_a_newer_data_format_is_refused(broker: BrokerProcess) -> None:
    broker.stop()
    marker = broker.data_dir / FORMAT_FILE
    marker.write_text(marker.read_text().replace(str(FORMAT_VERSION), "99"))
    assert "newer" in refused("--data-dir", str(broker.data_dir), "--port", "0")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--data-dir"),
        (["--data-dir", "d", "--host", "0.0.0.0"], "loopback"),
        (["--data-dir", "d", "--host", "192.168.0.1"], "loopback"),
        (["--data-dir", "d", "--host", "example.org"], "loopback"),
        (["--data-dir", "d", "--host", "::"], "loopback"),
        (["--data-dir", "d", "--durability", "perhaps"], "fsync"),
        (["--data-dir", "d", "--port", "70000"], "65535"),
        (["--config", "absent.toml"], "cannot be read"),
    ],
)
def test_arguments_are_checked(arguments: list[str], word: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert word in capfd.readouterr().err


def test_a_config_file_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text(f'data_dir = "{tmp_path}"\nport = 1234\ndurability = "os"\ngroups_max = 7\n')
    config = load_config(path, port=0)
    assert config == BrokerConfig(data_dir=tmp_path, port=0, durability="os", groups_max=7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("data_dir = 'd'\nprot = 1", ["unknown setting 'prot'", "did you mean port", "valid: data_dir"]),
        ("data_dir = 'd'\nport = 'x'", ["port", "integer", "'x'"]),
        ("data_dir = 'd'\ndurability = 'none'", ["durability", "'fsync'", "'os'"]),
        ("data_dir = 'd'\ngroups_max = 0", ["groups_max is 0", "1 or more"]),
        ("port = 1", ["data_dir is not set"]),
        ("\nport = x", ["no TOML", "line 2"]),
    ],
)
def test_a_bad_config_file_is_refused_with_place_and_cause(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "broker.toml"
    path.write_text(text)
    with pytest.raises(InvalidConfig) as error:
        load_config(path)
    for word in words:
        assert word in str(error.value)


def test_a_clean_stop_keeps_everything_and_frees_the_directory(broker: BrokerProcess) -> None:
    with Client(broker.bootstrap) as client:
        client.create_topics({"kept": 2})
    assert broker.stop() == 0
    broker.start()
    with Client(broker.bootstrap) as client:
        assert client.partition_count("kept") == 2


def test_an_idle_broker_uses_no_processor_and_little_memory(broker: BrokerProcess) -> None:
    with Client(broker.bootstrap) as client:
        client.metadata()
    ticks_before = cpu_ticks(broker.pid)
    with socket.create_connection(("127.0.0.1", broker.port)) as idle:
        idle.settimeout(1.0)
        with pytest.raises(TimeoutError):
            idle.recv(1)  # a second of nothing
    assert cpu_ticks(broker.pid) - ticks_before <= 0.05 * os.sysconf("SC_CLK_TCK")
    assert resident_mb(broker.pid) <= 150


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_connections_beyond_the_limit_are_closed_and_the_others_served(tmp_path: Path) -> None:
    """Those that wait for an answer are never closed to make room."""
    config = tmp_path / "broker.toml"
    config.write_text("connections_max = 3\n")
    broker = BrokerProcess(tmp_path / "data", "--config", str(config))
    broker.start()
    try:
        with Client(broker.bootstrap) as client:
            client.create_topics({"quiet": 1})
        wanted = FetchRequest(60_000, 1, 100, 0, (FetchPartition("quiet", 0, 0, 100),))
        body = struct.pack(">hhih", protocol.FETCH.key, 4, 1, -1) + b"".join(
            protocol.FETCH.codec.encode_request(4, wanted)
        )
        held = [socket.create_connection(("127.0.0.1", broker.port), DEADLINE_S) for _ in range(3)]
        for connection in held:
            connection.sendall(struct.pack(">i", len(body)) + body)
        with socket.create_connection(("127.0.0.1", broker.port), DEADLINE_S) as fourth:
            fourth.sendall(struct.pack(">i", len(body)) + body)
            assert fourth.recv(1) == b""
        for connection in held:
            connection.close()
        with Client(broker.bootstrap) as client:
            assert client.metadata().brokers, "there is room again"
        assert "no place for another connection but for our own parts" in broker.log
    finally:
        broker.stop()


def test_a_full_disk_is_logged_when_it_begins_and_when_it_ends(tmp_path: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mount is NOT ALLOWED here: the broker's words about a full disk are not checked")
    config = tmp_path / "broker.toml"
    config.write_text("retention_interval_ms = 50")
    arguments = ["--data-dir", str(tmp_path / "log"), "--port", "0", "--config", str(config)]
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "headrace.wire", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as broker:
            assert broker.stderr is not None
            (tmp_path / "filler").write_bytes(bytes(62 << 20))
            until_logged(broker.stderr, b"disk nearly full")
            (tmp_path / "filler").unlink()
            until_logged(broker.stderr, b"disk has space again")
            broker.terminate()
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def until_logged(lines: Iterable[bytes], words: bytes) -> None:
    assert any(words in line for line in lines), f"the log ended without {words!r}"
