"""Idle, silent and too many connections: they are closed or refused, and everybody else is served."""

from __future__ import annotations

import shutil
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from tests.kafka_clients import AdminClient

from headrace.log import encode_batches
from headrace.wire import protocol
from headrace.wire.client import Client
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.door import GRACE_S, LOOPBACK, RESERVED, TRIAL_GRACE_S, Door, DoorLimits, Visit, address_of
from headrace.wire.event_log import CountedLog
from headrace.wire.messages.cluster import MetadataRequest
from headrace.wire.messages.fetch import FetchPartition, FetchRequest
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 30.0
MINUTE_MS = 60_000


def door(in_all: int = 3, from_one: int = 2) -> Door:
    return Door(DoorLimits(in_all, from_one, 600_000, 30_000, 30_000))


def entered(found: Visit | str) -> Visit:
    assert isinstance(found, Visit), found
    return found


def test_one_address_cannot_take_all_places() -> None:
    entry = door(in_all=4, from_one=2)
    held = [entered(entry.enter("10.0.0.1", 0.0)) for _ in range(2)]
    assert "more than 2 connections from one address" in str(entry.enter("10.0.0.1", 0.1))
    others = [entered(entry.enter(host, 0.1)) for host in ("10.0.0.2", "10.0.0.3")]
    assert "more than 4 connections in all" in str(entry.enter("10.0.0.4", 0.2))
    for visit in (*held, *others, held[0]):
        entry.leave(visit)
    assert len(entry) == 0


def test_the_one_that_was_silent_longest_makes_room() -> None:
    entry = door(in_all=3, from_one=3)
    ended: list[str] = []

    def enter(name: str, at_s: float, *, spoke: bool, busy: bool = False) -> Visit:
        visit = entered(entry.enter("10.0.0.1", at_s))
        visit.spoke, visit.busy = spoke, lambda: busy
        visit.close = lambda reason: ended.append(name)
        return visit

    enter("busy", 0.0, spoke=True, busy=True)
    enter("talked", 1.0, spoke=True)
    enter("mute", 2.0, spoke=False)
    assert isinstance(entry.enter("10.0.0.1", 1.5), str), "nobody is closed who has just come"
    enter("third", 2.0 + GRACE_S, spoke=True)
    assert ended == ["mute"]
    enter("fourth", 3.0 + GRACE_S, spoke=True)
    assert ended == ["mute", "talked"]


def test_what_is_overdue_is_closed() -> None:
    entry = door()
    ended: dict[str, str | None] = {}

    def enter(name: str) -> Visit:
        visit = entered(entry.enter(name, 0.0))
        visit.close = lambda reason: ended.update({name: reason})
        return visit

    mute, begun, talked = enter("mute"), enter("begun"), enter("talked")
    mute.spoke, begun.spoke, talked.spoke = False, True, True
    begun.partial_s = 20.0
    entry.sweep(29.0)
    assert ended == {}
    entry.sweep(31.0)
    assert ended == {"mute": "no request within 30000 ms"}
    entry.sweep(51.0)
    assert "begun" in str(ended.pop("begun"))
    talked.busy = lambda: True
    entry.sweep(601.0)
    assert "talked" not in ended, "a request that waits is no silence"
    talked.busy = lambda: False
    entry.sweep(601.0)
    assert ended["talked"] is None, "nobody's fault, nothing to log"


def test_the_reserve_is_for_our_own_parts() -> None:
    entry = door(in_all=1, from_one=1)
    entered(entry.enter("127.0.0.1", 0.0)).busy = lambda: True
    own = entered(entry.enter("127.0.0.1", 0.1))
    assert own.on_trial
    own.prove_own()
    assert isinstance(entry.enter("10.0.0.1", 0.1), str), "not for other machines"
    ended: list[int] = []
    for number in range(RESERVED - 1):
        visit = entered(entry.enter("127.0.0.1", 0.2))
        visit.close = lambda reason, number=number: ended.append(number)  # type: ignore[misc]
    assert isinstance(entry.enter("127.0.0.1", 0.2), str), "not while all of them may still prove it"
    entered(entry.enter("127.0.0.1", 0.2 + TRIAL_GRACE_S))
    assert ended == [0], "the oldest stranger goes"
    entry.sweep(6.0)
    assert len(ended) == RESERVED - 1, "nobody stays there who is none of our own parts"
    assert len(entry) == 2
    entry.leave(own)
    assert len(entry) == 1


def test_our_own_parts_are_not_closed_to_make_room() -> None:
    entry = door(in_all=2, from_one=2)
    ended: list[str] = []
    for name in ("own", "stranger"):
        visit = entered(entry.enter("127.0.0.1", 0.0))
        visit.close = lambda reason, name=name: ended.append(name)  # type: ignore[misc]
        if name == "own":
            visit.prove_own()
    entered(entry.enter("127.0.0.1", 10.0))
    assert ended == ["stranger"]


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", LOOPBACK), ("127.8.8.8", LOOPBACK), ("::1", LOOPBACK), ("10.1.1.1", "10.1.1.1")]
)
def test_all_of_loopback_is_one_address(host: str, address: str) -> None:
    assert address_of(host) == address


def test_many_of_one_kind_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    log = CountedLog("refused", lines_max=2)
    for number in range(5):
        log.warning(reason=f"frame of {number} bytes")
    log.warning(reason="another")
    assert [record.getMessage() for record in caplog.records] == [
        "refused reason=frame of 0 bytes",
        "refused reason=frame of 1 bytes",
        "refused reason=another",
    ]
    hasty = CountedLog("refused", lines_max=0, period_s=0.0)
    hasty.warning(reason="unseen")
    hasty.settle()
    assert caplog.records[-1].getMessage() == "refused more=1 reason=unseen"


# -- with real connections --------------------------------------------------------------------------------------------


@contextmanager
def running(directory: Path, settings: str) -> Iterator[BrokerProcess]:
    (directory / "broker.toml").write_text(settings)
    broker = BrokerProcess(directory / "data", "--config", str(directory / "broker.toml"))
    broker.start()
    try:
        yield broker
    finally:
        assert broker.stop() == 0


def connected(broker: BrokerProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", broker.port), timeout=DEADLINE_S)


def ends(connection: socket.socket) -> bool:
    """Waits until the broker has closed it."""
    with suppress(ConnectionError):
        while connection.recv(1_000):
            pass
    return True


def until(holds: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


# ApiVersions, version 0, without a client id: encoded here, for a client that loads its codecs meanwhile is slow.
API_VERSIONS = struct.pack(">ihhih", 10, protocol.API_VERSIONS_KEY, 0, 1, -1)


def test_idle_silent_and_half_requests_are_closed(tmp_path: Path) -> None:
    settings = "connections_idle_ms_max = 600\nfirst_request_ms_max = 300\npartial_request_ms_max = 300"
    with running(tmp_path, settings) as broker, ExitStack() as opened:
        idle, silent, half = [opened.enter_context(connected(broker)) for _ in range(3)]
        idle.sendall(API_VERSIONS)
        half.sendall(API_VERSIONS + API_VERSIONS[:5])
        for connection in (idle, silent, half):
            assert ends(connection)
        assert "no request within 300 ms" in broker.log


def test_a_request_that_waits_is_no_idle_connection(tmp_path: Path) -> None:
    with running(tmp_path, "connections_idle_ms_max = 100") as broker:
        with Client(broker.bootstrap) as client:
            client.create_topics({"quiet": 1})
        request = FetchRequest(1_000, 1, 1 << 20, 0, (FetchPartition("quiet", 0, 0, 1 << 20),))
        body = b"".join(protocol.FETCH.codec.encode_request(4, request))
        frame = struct.pack(">ihhih", 10 + len(body), protocol.FETCH.key, 4, 7, -1) + body
        with connected(broker) as waiting:
            waiting.sendall(frame)
            assert struct.unpack(">ii", waiting.recv(8))[1] == 7


def test_many_silent_connections_lock_nobody_out(tmp_path: Path) -> None:
    """As in the attack: more of them than there are places. Refusals do not fill the log either."""
    with running(tmp_path, "connections_max = 60\nconnections_per_address_max = 50") as broker, ExitStack() as held:
        for _ in range(300):
            held.enter_context(connected(broker))
        with Client(broker.bootstrap) as client:
            assert client.metadata().brokers
        # Within a second those who were silent make room for strangers too.
        assert eventually_listed(broker.bootstrap)
        assert 0 < broker.log.count("connection refused") <= 25


def eventually_listed(bootstrap: str) -> bool:
    ends_at = time.monotonic() + DEADLINE_S
    client = AdminClient({"bootstrap.servers": bootstrap})
    while time.monotonic() < ends_at:
        with suppress(KafkaException):
            return bool(client.list_topics(timeout=GRACE_S).brokers)
    return False


def long_fetch(topic: str) -> bytes:
    """A request that waits for a minute: its connection is busy, and not closed for others."""
    request = FetchRequest(MINUTE_MS, 1, 1 << 20, 0, (FetchPartition(topic, 0, 0, 1 << 20),))
    body = b"".join(protocol.FETCH.codec.encode_request(4, request))
    return struct.pack(">ihhih", 10 + len(body), protocol.FETCH.key, 4, 7, -1) + body


def test_our_own_parts_get_in_when_strangers_have_all_places(tmp_path: Path) -> None:
    with running(tmp_path, "connections_max = 4\nconnections_per_address_max = 4") as broker, ExitStack() as held:
        with Client(broker.bootstrap) as client:
            client.create_topics({"quiet": 1})
        # The places of the client may be free only a moment later.
        for _ in range(40):
            busy = held.enter_context(connected(broker))
            with suppress(ConnectionError):
                busy.sendall(long_fetch("quiet"))
        with Client(broker.bootstrap) as client:
            assert "quiet" in client.metadata().topics
            client.produce({"quiet": {0: next(encode_batches(None, [b"x"], [time.time_ns() // 1_000_000]))}})
        until(lambda: "our own parts" in broker.log)


def test_a_tls_client_that_just_leaves_is_not_worth_a_line(tmp_path: Path) -> None:
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    settings = f'tls_certificate = "{certificate}"\ntls_key = "{key}"\nsasl_mechanisms = ["SCRAM-SHA-512"]'
    trusting = ssl.create_default_context(cafile=str(certificate))
    trusting.check_hostname = False
    with running(tmp_path, settings) as broker:
        connected(broker).close()
        with connected(broker) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            while plain.recv(1_000):
                pass
        with connected(broker) as below, trusting.wrap_socket(below) as encrypted:
            assert encrypted.version() in ("TLSv1.2", "TLSv1.3")
    assert broker.log == ""


@pytest.mark.skipif(shutil.which("ss") is None, reason="ss is NOT INSTALLED: timers of sockets cannot be seen")
def test_keep_alive_is_on(tmp_path: Path) -> None:
    with running(tmp_path, "") as broker:
        opened = BrokerConnection(("127.0.0.1", broker.port), "k", Deadline(MINUTE_MS))
        opened.send(protocol.METADATA, MetadataRequest(()), Deadline(MINUTE_MS))
        command = ["ss", "-Htno", "sport", "=", f":{broker.port}"]
        until(lambda: "keepalive" in subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        opened.close()
