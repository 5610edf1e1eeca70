"""How many groups there may be: expired ones make room, and a full broker says so once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, names
from headrace.wire.config import BrokerConfig
from headrace.wire.messages import configs, groups, offsets
from headrace.wire.testing import broker_in_thread

GROUPS_MAX = 3
EXPIRY_MS = 1_000
HOUR_MS = 3_600_000


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


def joined(ask: Asker, group: str) -> str:
    """The id of the only member, in generation 1."""
    protocols = (groups.JoinProtocol("range", b""),)
    member = ""
    for _ in range(2):
        request = groups.JoinGroupRequest(group, 30_000, member, "consumer", protocols, 30_000)
        member = str(ask(protocol.JOIN_GROUP, request).member_id)
    agreed = {"protocol_type": "consumer", "protocol_name": "range"}
    ask(protocol.SYNC_GROUP, groups.SyncGroupRequest(group, 1, member, (), **agreed))
    return member


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
        leave = groups.LeaveGroupRequest("quiet", members=(groups.LeavingMember(member),))
        assert names(ask(protocol.LEAVE_GROUP, leave)) == ["NONE", "NONE"]
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
