"""How many groups there may be: expired ones make room, and a full broker says so once."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest

from headrace.wire import group_service, protocol
from headrace.wire.asking import Asker, asking, names
from headrace.wire.config import BrokerConfig
from headrace.wire.group_service import VACANT_MS
from headrace.wire.messages import configs, groups, offsets
from headrace.wire.testing import broker_in_thread

GROUPS_MAX = 3
EXPIRY_MS = 1_000
HOUR_MS = 3_600_000
DEADLINE_S = 30.0


def commit(ask: Asker, group: str, generation: int = -1, member: str = "") -> list[str]:
    entry = offsets.CommitTopic("t", (offsets.CommitPartition(0, 7, ""),))
    return names(ask(protocol.OFFSET_COMMIT, offsets.OffsetCommitRequest(group, (entry,), generation, member), 9))


def committed(ask: Asker, group: str) -> int:
    wanted = offsets.OffsetFetchGroup(group, (offsets.OffsetFetchTopic("t", (0,)),))
    answer = ask(protocol.OFFSET_FETCH, offsets.OffsetFetchRequest(groups=(wanted,)), 9)
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)


def figures(ask: Asker) -> dict[str, str | None]:
    request = configs.DescribeConfigsRequest((configs.ConfigResource(4, "1"),))
    (described,) = ask(protocol.DESCRIBE_CONFIGS, request).results
    return {entry.name: entry.value for entry in described.configs if entry.name.startswith("headrace.groups")}


def config_for(directory: Path, **more: Any) -> BrokerConfig:
    # Housekeeping comes so seldom that it is not what makes room.
    settings = {"groups_max": GROUPS_MAX, "offset_expiry_ms": EXPIRY_MS, "retention_interval_ms": HOUR_MS} | more
    return BrokerConfig(data_dir=directory, port=0, rebalance_delay_ms=0, **settings)


def test_expired_groups_make_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = [1_000_000]
    caplog.set_level(logging.INFO)
    with broker_in_thread(config_for(tmp_path), clock=lambda: now[0]) as address, asking(address) as ask:
        ask.create("t")
        assert [commit(ask, f"g{number}") for number in range(GROUPS_MAX)] == [["NONE"]] * GROUPS_MAX
        assert [commit(ask, f"new{number}") for number in range(5)] == [["POLICY_VIOLATION"]] * 5
        said = [record for record in caplog.records if "no room for another group" in record.getMessage()]
        assert len(said) == 1, "not for each request"
        assert figures(ask) == {
            "headrace.groups.now": "3",
            "headrace.groups.max": "3",
            "headrace.groups.refused.requests": "5",
        }
        now[0] += EXPIRY_MS // 2
        assert commit(ask, "g1") == ["NONE"]
        now[0] += EXPIRY_MS // 2
        assert commit(ask, "new") == ["NONE"]
        assert [committed(ask, group) for group in ("g0", "g1", "g2", "new")] == [-1, 7, -1, 7]
    with broker_in_thread(config_for(tmp_path), clock=lambda: now[0]) as address, asking(address) as ask:
        assert [committed(ask, group) for group in ("g0", "g1", "g2", "new")] == [-1, 7, -1, 7]


def joined(ask: Asker, group: str, generation: int = 1) -> str:
    """The id of the only member, in that generation."""
    protocols = (groups.JoinProtocol("range", b""),)
    member = ""
    for _ in range(2):
        request = groups.JoinGroupRequest(group, 30_000, member, "consumer", protocols, 30_000)
        answer = ask(protocol.JOIN_GROUP, request)
        member = str(answer.member_id)
    assert answer.generation_id == generation
    agreed = {"protocol_type": "consumer", "protocol_name": "range"}
    ask(protocol.SYNC_GROUP, groups.SyncGroupRequest(group, generation, member, (), **agreed))
    return member


def leave(ask: Asker, group: str, member: str) -> None:
    request = groups.LeaveGroupRequest(group, members=(groups.LeavingMember(member),))
    assert names(ask(protocol.LEAVE_GROUP, request)) == ["NONE", "NONE"]


def wait_until_gone(ask: Asker, group: str) -> None:
    """From memory: the broker drops a group without members at its next tick."""
    ends_at = time.monotonic() + DEADLINE_S
    while any(g.group_id == group for g in ask(protocol.LIST_GROUPS, groups.ListGroupsRequest()).groups):
        assert time.monotonic() < ends_at


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("commits", [False, True])
def test_generations_go_on_after_the_last_member_left(tmp_path: Path, restarted: bool, commits: bool) -> None:
    config = config_for(tmp_path)
    with broker_in_thread(config) as address, asking(address) as ask:
        ask.create("t")
        member = joined(ask, "g")
        if commits:
            assert commit(ask, "g", 1, member) == ["NONE"]
        leave(ask, "g", member)
        if not restarted:
            if not commits:
                wait_until_gone(ask, "g")
            joined(ask, "g", 3)
    if restarted:
        with broker_in_thread(config) as address, asking(address) as ask:
            joined(ask, "g", 3)


def test_a_group_without_members_and_offsets_is_forgotten_after_a_while(tmp_path: Path) -> None:
    now = [1_000_000]
    with broker_in_thread(config_for(tmp_path), clock=lambda: now[0]) as address, asking(address) as ask:
        ask.create("t")
        leave(ask, "g", joined(ask, "g"))
        wait_until_gone(ask, "g")
        assert [commit(ask, f"full{number}") for number in range(GROUPS_MAX)] == [["NONE"]] * GROUPS_MAX
        now[0] += VACANT_MS
        assert commit(ask, "makes-room") == ["NONE"]
        joined(ask, "g")


def test_only_so_many_vacant_groups_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_service, "VACANT_MAX", 2)
    with broker_in_thread(config_for(tmp_path)) as address, asking(address) as ask:
        for number in range(4):
            leave(ask, f"g{number}", joined(ask, f"g{number}"))
            wait_until_gone(ask, f"g{number}")
        joined(ask, "g0", 1)
        joined(ask, "g3", 3)


@pytest.mark.parametrize("restarted", [False, True])
def test_offsets_outlive_the_last_member_for_the_whole_expiry_time(tmp_path: Path, restarted: bool) -> None:
    """A group that read nothing for long does not lose its place the moment its members stop."""
    now = [1_000_000]
    config = config_for(tmp_path, groups_max=1)
    with broker_in_thread(config, clock=lambda: now[0]) as address, asking(address) as ask:
        ask.create("t")
        member = joined(ask, "quiet")
        assert commit(ask, "quiet", 1, member) == ["NONE"]
        now[0] += 10 * EXPIRY_MS
        leave(ask, "quiet", member)
        if not restarted:
            expires_in_time(ask, now)
    if restarted:
        with broker_in_thread(config, clock=lambda: now[0]) as address, asking(address) as ask:
            expires_in_time(ask, now)


def expires_in_time(ask: Asker, now: list[int]) -> None:
    now[0] += EXPIRY_MS - 1
    assert commit(ask, "other") == ["POLICY_VIOLATION"]
    assert committed(ask, "quiet") == 7
    now[0] += 1
    assert commit(ask, "other") == ["NONE"]
    assert committed(ask, "quiet") == -1
