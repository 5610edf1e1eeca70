"""A browser's session: begun by the token, of no use to others, and over at some time."""

from __future__ import annotations

import json
import os
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from headrace.server.peers import Peer
from headrace.server.service import Service
from headrace.server.sessions import IDLE_S_MAX, LIFE_S_MAX, SESSIONS_FILE, SESSIONS_MAX, Sessions

OWN = 1000
OTHER = 1001


class Clock:
    now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_session_goes_on_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    begun = Sessions(tmp_path, "token", clock).begin(OWN)
    assert Sessions(tmp_path, "token", clock).is_open(begun, OWN)


def test_the_file_lets_nobody_in(tmp_path: Path, clock: Clock) -> None:
    sessions = Sessions(tmp_path, "the token", clock)
    begun = sessions.begin(OWN)
    written = (tmp_path / SESSIONS_FILE).read_text()
    assert begun not in written
    assert "the token" not in written
    assert not any(sessions.is_open(key, OWN) for key in json.loads(written)["sessions"])
    assert (tmp_path / SESSIONS_FILE).stat().st_mode & 0o777 == 0o600


def test_another_account_cannot_use_it(tmp_path: Path, clock: Clock) -> None:
    sessions = Sessions(tmp_path, "token", clock)
    begun = sessions.begin(OWN)
    assert not sessions.is_open(begun, OTHER)
    assert not sessions.is_open(begun, None)
    assert sessions.is_open(sessions.begin(None), OWN), "where the system tells no account, none is asked for"


def test_a_new_token_ends_all(tmp_path: Path, clock: Clock) -> None:
    begun = Sessions(tmp_path, "token", clock).begin(OWN)
    assert not Sessions(tmp_path, "another", clock).is_open(begun, OWN)


def test_a_used_session_goes_on_and_ends_at_last(tmp_path: Path, clock: Clock) -> None:
    used = Sessions(tmp_path, "token", clock).begin(OWN)
    end_s = clock.now_s + LIFE_S_MAX
    while clock.now_s + IDLE_S_MAX / 2 < end_s:
        clock.now_s += IDLE_S_MAX / 2
        assert Sessions(tmp_path, "token", clock).is_open(used, OWN)
    clock.now_s = end_s + 1
    assert not Sessions(tmp_path, "token", clock).is_open(used, OWN)


def test_an_idle_session_ends(tmp_path: Path, clock: Clock) -> None:
    sessions = Sessions(tmp_path, "token", clock)
    idle = sessions.begin(OWN)
    clock.now_s += IDLE_S_MAX + 1
    assert not sessions.is_open(idle, OWN)


def test_the_longest_idle_makes_room(tmp_path: Path, clock: Clock) -> None:
    sessions = Sessions(tmp_path, "token", clock)
    begun = []
    for _ in range(SESSIONS_MAX + 1):
        clock.now_s += 1
        begun.append(sessions.begin(OWN))
    assert [sessions.is_open(session, OWN) for session in begun] == [False] + [True] * SESSIONS_MAX


@pytest.mark.parametrize("content", [b"", b"[]", b'{"token": 1}', b'{"sessions": {}}', b"\xff", b'{"token": "x"'])
def test_a_file_that_is_not_ours_only_asks_for_the_token(tmp_path: Path, clock: Clock, content: bytes) -> None:
    (tmp_path / SESSIONS_FILE).write_bytes(content)
    sessions = Sessions(tmp_path, "token", clock)
    assert sessions.is_open(sessions.begin(OWN), OWN)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells the account of a connection")
def test_the_account_of_a_connection_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert Peer(client.getsockname(), server.getsockname()).account == os.getuid()
    assert Peer(("127.0.0.1", 1), ("127.0.0.1", 2)).account is None
    assert Peer(None, None).account is None


def test_the_cookie_is_not_the_token_and_ends_with_the_logout(stranger: httpx.Client, port: int) -> None:
    own = {"Origin": f"http://127.0.0.1:{port}"}
    assert stranger.get("/?token=the-token").status_code == 303
    kept = dict(stranger.cookies)
    assert "the-token" not in kept.values()
    assert stranger.post("/api/logout").status_code == 403, "no other page logs out"
    assert stranger.post("/api/logout", headers=own).status_code == 204
    assert not stranger.cookies
    cookie = "; ".join(f"{name}={value}" for name, value in kept.items())
    assert stranger.get("/api/jobs", headers={"Cookie": cookie}).status_code == 401


def test_the_token_as_a_cookie_is_not_taken(stranger: httpx.Client, port: int) -> None:
    assert stranger.get("/api/jobs", headers={"Cookie": f"headrace_{port}=the-token"}).status_code == 401


def test_the_token_logs_out_all(stranger: httpx.Client) -> None:
    assert stranger.get("/?token=the-token").status_code == 303
    assert stranger.get("/api/jobs").status_code == 200
    assert stranger.post("/api/logout", headers={"Authorization": "Bearer the-token"}).status_code == 204
    assert stranger.get("/api/jobs").status_code == 401


def test_a_stream_of_events_ends_with_its_session(stranger: httpx.Client, service: Service) -> None:
    assert stranger.get("/?token=the-token").status_code == 303
    with ExitStack() as streams:
        stream = streams.enter_context(stranger.stream("GET", "/api/events"))
        lines = stream.iter_lines()
        next(lines)
        with httpx.Client(base_url=stranger.base_url, trust_env=False) as owner:
            owner.post("/api/logout", headers={"Authorization": "Bearer the-token"})
        for _ in lines:  # to its end
            pass
    assert stranger.get("/api/events").status_code == 401
