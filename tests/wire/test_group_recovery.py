"""Groups through kills and losses of power at any moment: the same group afterwards, or members that join again.

Clients call the handlers of a broker on a simulated disk. A generation whose assignment was told to anybody is never
decided a second time, whoever left stays gone, and a group at rest is the same after the broker died.
"""

from __future__ import annotations

import asyncio
import errno
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.wire.test_simulation import PARTITIONS, TOPIC, World, scratch

from headrace.errors import Conflict, CorruptData
from headrace.log import LogStore, OsStorage
from headrace.log.testing import Fault, FaultyStorage
from headrace.wire import commit as commit_module
from headrace.wire import protocol
from headrace.wire.asking import asking
from headrace.wire.client.connection import Deadline
from headrace.wire.codes import ErrorCode
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators.record_kinds import pack_key
from headrace.wire.messages import consumer_groups, groups, offsets
from headrace.wire.state_records import StateRecord, encode_state_batch
from headrace.wire.testing import broker_in_thread

LIVES = 8
DEATHS = 4
SESSION_MS = 30_000
REBALANCE_MS = 2_000
DEADLINE_S = 60.0
PROTOCOLS = (groups.JoinProtocol("range", b"anything"),)


@dataclass
class Judge:
    """What clients were told, over all lives of the broker."""

    # The plan of each generation that was told to a member.
    plans: dict[int, str] = field(default_factory=dict)
    gone: set[tuple[str, int]] = field(default_factory=set)

    def told(self, generation: int, assignment: bytes) -> None:
        plan = assignment.decode()
        assert self.plans.setdefault(generation, plan) == plan, f"generation {generation} was decided twice"


class Classic:
    """Joins, is assigned, beats, commits; now and then it leaves and comes back as somebody else."""

    def __init__(self, world: World, judge: Judge, name: str) -> None:
        self.world, self.judge, self.name = world, judge, name
        self.member_id, self.generation = "", -1
        self.joins = 0

    async def ask(self, api: Any, request: Any) -> Any:
        return await self.world.patiently(lambda: self.world.ask(api, request))

    async def join(self) -> None:
        while True:
            request = groups.JoinGroupRequest("g", SESSION_MS, self.member_id, "consumer", PROTOCOLS, REBALANCE_MS)
            joined = await self.ask(protocol.JOIN_GROUP, request)
            if joined.error_code is ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = joined.member_id
            elif joined.error_code is ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = ""
            elif joined.error_code is ErrorCode.NONE and await self.sync(joined):
                self.joins += 1
                return

    async def sync(self, joined: Any) -> bool:
        plan = f"{joined.leader} decides {self.world.choice.random()}".encode()
        shares = tuple(groups.MemberAssignment(member.member_id, plan) for member in joined.members)
        request = groups.SyncGroupRequest(
            "g", joined.generation_id, self.member_id, shares, protocol_type="consumer", protocol_name="range"
        )
        synced = await self.ask(protocol.SYNC_GROUP, request)
        if synced.error_code is not ErrorCode.NONE:
            self.member_id = "" if synced.error_code is ErrorCode.UNKNOWN_MEMBER_ID else self.member_id
            return False
        self.judge.told(joined.generation_id, synced.assignment)
        self.generation = joined.generation_id
        return True

    async def beat(self) -> ErrorCode:
        request = groups.HeartbeatRequest("g", self.generation, self.member_id)
        code: ErrorCode = (await self.ask(protocol.HEARTBEAT, request)).error_code
        if code is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        return code

    async def commit(self) -> ErrorCode:
        entry = offsets.CommitTopic(TOPIC, (offsets.CommitPartition(0, self.generation, ""),))
        request = offsets.OffsetCommitRequest("g", (entry,), self.generation, self.member_id)
        answer = await self.world.patiently(lambda: self.world.ask(protocol.OFFSET_COMMIT, request, 9))
        code: ErrorCode = answer.topics[0].partitions[0].error_code
        return code

    async def leave(self) -> None:
        leaving = (groups.LeavingMember(self.member_id),)
        left = await self.ask(protocol.LEAVE_GROUP, groups.LeaveGroupRequest("g", members=leaving))
        assert left.error_code is ErrorCode.NONE
        self.judge.gone.add((self.member_id, self.generation))
        self.member_id = ""

    async def run(self, done: asyncio.Event) -> None:
        await self.join()
        while not done.is_set():
            chance = self.world.choice.random()
            if chance < 0.05:
                await self.leave()
                await self.join()
            elif await (self.commit() if chance < 0.3 else self.beat()) is not ErrorCode.NONE:
                await self.join()
            await asyncio.sleep(0.002)


class Newer:
    """A member of the newer protocol. It reports what it holds, and retries as if nothing had been answered."""

    def __init__(self, world: World, name: str, held: dict[str, set[tuple[Any, int]]]) -> None:
        self.world, self.name, self.held = world, name, held
        self.epoch = 0

    def own(self) -> tuple[consumer_groups.AssignedTopic, ...]:
        topics: dict[Any, list[int]] = {}
        for topic_id, index in sorted(self.held.get(self.name, set())):
            topics.setdefault(topic_id, []).append(index)
        return tuple(consumer_groups.AssignedTopic(topic_id, tuple(found)) for topic_id, found in topics.items())

    async def ask(self, request: consumer_groups.HeartbeatRequest) -> Any:
        return await self.world.patiently(lambda: self.world.ask(protocol.CONSUMER_GROUP_HEARTBEAT, request))

    async def beat(self) -> ErrorCode:
        joins: dict[str, Any] = (
            {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": (TOPIC,)} if self.epoch == 0 else {}
        )
        request = consumer_groups.HeartbeatRequest("n", self.name, self.epoch, topic_partitions=self.own(), **joins)
        told = await self.ask(request)
        code: ErrorCode = told.error_code
        if code is not ErrorCode.NONE:
            assert code in {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}, told
            self.epoch = 0
            self.held.pop(self.name, None)
            return code
        self.epoch = told.member_epoch
        if told.assignment is not None:
            mine = {(entry.topic_id, index) for entry in told.assignment.topic_partitions for index in entry.partitions}
            others = set().union(*(share for name, share in self.held.items() if name != self.name))
            assert not mine & others, "a partition has two owners"
            self.held[self.name] = mine
        return ErrorCode.NONE

    async def run(self, done: asyncio.Event) -> None:
        while not done.is_set():
            if self.epoch > 0 and self.world.choice.random() < 0.03:
                self.held.pop(self.name, None)
                await self.ask(consumer_groups.HeartbeatRequest("n", self.name, -1))
                self.epoch = 0
            await self.beat()
            await asyncio.sleep(0.002)


async def settle(members: list[Classic], newer: list[Newer]) -> None:
    """Beat until nobody has to join any more and everything has an owner."""
    while True:
        codes = [await member.beat() for member in members]
        is_quiet = codes == [ErrorCode.NONE] * len(members)
        if not is_quiet:
            await asyncio.gather(*(member.join() for member in members))
        before = {member.name: member.epoch for member in newer}
        for member in newer:
            await member.beat()
        held = sum(len(share) for share in newer[0].held.values())
        if is_quiet and held == PARTITIONS and before == {member.name: member.epoch for member in newer}:
            return


async def live(root: Path, seed: int) -> None:
    choice = Random(seed)
    world = World(root, choice, rebalance_delay_ms=0)
    await world.start()
    judge, done, held = Judge(), asyncio.Event(), dict[str, set[tuple[Any, int]]]()
    members = [Classic(world, judge, f"c{number}") for number in range(3)]
    newer = [Newer(world, f"n{number}", held) for number in range(3)]
    clients: list[Classic | Newer] = [*members, *newer]
    running = [asyncio.ensure_future(client.run(done)) for client in clients]
    for _ in range(DEATHS):
        await asyncio.sleep(choice.random() * 0.15)
        world.die(power=choice.random() < 0.6)
        await world.start()
    done.set()
    await asyncio.gather(*running)
    await settle(members, newer)
    await die_at_rest(world, judge, members, newer)
    await world.end()


async def die_at_rest(world: World, judge: Judge, members: list[Classic], newer: list[Newer]) -> None:
    epochs, joins = [member.epoch for member in newer], [member.joins for member in members]
    for power in (False, True):
        world.die(power=power)
        await world.start()
        for member in members:
            assert await member.beat() is ErrorCode.NONE
            assert await member.commit() is ErrorCode.NONE
        assert [await member.beat() for member in newer] == [ErrorCode.NONE] * len(newer)
        assert [member.epoch for member in newer] == epochs
        for member_id, generation in judge.gone:
            answer = await world.ask(protocol.HEARTBEAT, groups.HeartbeatRequest("g", generation, member_id))
            assert answer.error_code is not ErrorCode.NONE, "whoever left is back"
    assert [member.joins for member in members] == joins


@pytest.mark.parametrize("seed", range(LIVES))
def test_groups_live_through_deaths(tmp_path: Path, seed: int) -> None:
    root = scratch(tmp_path) / f"groups-{seed}"
    try:
        asyncio.run(asyncio.wait_for(live(root, seed), DEADLINE_S))
    finally:
        shutil.rmtree(root, ignore_errors=True)


async def leave_while_another_joins(root: Path, power: bool) -> None:
    """Nobody is left who was told generation 1, nothing is committed, and the broker dies before the next one."""
    world, judge = World(root, Random(1), rebalance_delay_ms=0), Judge()
    await world.start()
    first, second = Classic(world, judge, "first"), Classic(world, judge, "second")
    await first.join()
    assert first.generation == 1
    request = groups.JoinGroupRequest("g", SESSION_MS, "", "consumer", PROTOCOLS, REBALANCE_MS)
    second.member_id = (await second.ask(protocol.JOIN_GROUP, request)).member_id
    joining_now = asyncio.ensure_future(second.ask(protocol.JOIN_GROUP, request._replace(member_id=second.member_id)))
    while await first.beat() is ErrorCode.NONE:
        pass
    await first.leave()
    assert (await joining_now).generation_id == 2
    world.die(power=power)
    await world.start()
    await second.join()
    assert second.generation > 1
    await world.end()


@pytest.mark.parametrize("power", [False, True])
def test_a_generation_is_not_given_again_when_all_who_were_told_it_left(tmp_path: Path, power: bool) -> None:
    asyncio.run(asyncio.wait_for(leave_while_another_joins(tmp_path / "disk", power), DEADLINE_S))


def put(directory: Path, record: StateRecord) -> None:
    """Write a record into the topic of groups, as another version of the broker would have."""
    store = LogStore.open(directory)
    store.partition("__consumer_offsets", 0).append(encode_state_batch([record], 1), origin="internal")
    store.close()


@pytest.mark.parametrize(
    ("record", "error", "says"),
    [
        ((pack_key(99, "g"), b"\0\0"), Conflict, "kind 99"),
        ((pack_key(2, "g"), b"\0\x09"), Conflict, "a group of version 9"),
        ((pack_key(5, "g", "m"), b"\0\x09"), Conflict, "a member of version 9"),
        ((pack_key(2, "g"), b"\0\3\0\xff"), CorruptData, "a record of a group cannot be read"),
    ],
)
def test_records_of_a_newer_version_are_refused(
    tmp_path: Path, record: StateRecord, error: type[Exception], says: str
) -> None:
    config = BrokerConfig(data_dir=tmp_path / "data", port=0)
    with broker_in_thread(config):
        pass
    put(config.data_dir, record)
    with pytest.raises(error, match=says), broker_in_thread(config):
        pass


def test_a_join_costs_one_sync_and_a_heartbeat_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs: list[int] = []
    sync = commit_module.run_tickets

    def counted(tickets: Any) -> Any:
        syncs.append(1)
        return sync(tickets)

    monkeypatch.setattr(commit_module, "run_tickets", counted)
    config = BrokerConfig(data_dir=tmp_path, port=0, rebalance_delay_ms=0)
    with broker_in_thread(config) as address, asking(address) as ask:
        ask.create("t")
        syncs.clear()
        member = ask(protocol.JOIN_GROUP, joining("")).member_id
        assert ask(protocol.JOIN_GROUP, joining(member)).error_code is ErrorCode.NONE
        agreed = {"protocol_type": "consumer", "protocol_name": "range"}
        ask(protocol.SYNC_GROUP, groups.SyncGroupRequest("g", 1, member, (), **agreed))
        assert len(syncs) == 1
        for _ in range(10):
            beat = groups.HeartbeatRequest("g", 1, member)
            assert ask(protocol.HEARTBEAT, beat).error_code is ErrorCode.NONE
        assert len(syncs) == 1
        whole: dict[str, Any] = {"rebalance_timeout_ms": 1_000, "subscribed_topic_names": ("t",)}
        first = consumer_groups.HeartbeatRequest("n", "m", 0, topic_partitions=(), **whole)
        told = ask(protocol.CONSUMER_GROUP_HEARTBEAT, first)
        assert len(syncs) == 2
        for _ in range(10):
            again = consumer_groups.HeartbeatRequest("n", "m", told.member_epoch)
            assert ask(protocol.CONSUMER_GROUP_HEARTBEAT, again).error_code is ErrorCode.NONE
        assert len(syncs) == 2


def joining(member_id: str) -> groups.JoinGroupRequest:
    return groups.JoinGroupRequest("g", SESSION_MS, member_id, "consumer", PROTOCOLS, REBALANCE_MS)


def test_nothing_is_told_that_the_disk_refused(tmp_path: Path) -> None:
    storage = FaultyStorage(OsStorage())
    config = BrokerConfig(data_dir=tmp_path, port=0, retention_interval_ms=20)
    whole: dict[str, Any] = {"rebalance_timeout_ms": 1_000, "topic_partitions": ()}
    request = consumer_groups.HeartbeatRequest("n", "m", 0, subscribed_topic_names=("t",), **whole)
    with broker_in_thread(config, storage=storage) as address, asking(address) as ask:
        ask.create("t")
        storage.faults.append(Fault("fdatasync", "__consumer_offsets-0/00000000000000000000.log", errno.EIO))
        for _ in range(5):
            told = ask._connection.send(protocol.CONSUMER_GROUP_HEARTBEAT, request, Deadline(30_000), 1)
            assert told.error_code is ErrorCode.COORDINATOR_NOT_AVAILABLE
        storage.faults.clear()
        told = ask(protocol.CONSUMER_GROUP_HEARTBEAT, request)
        assert told.error_code is ErrorCode.NONE
    with broker_in_thread(config) as address, asking(address) as ask:
        again = consumer_groups.HeartbeatRequest("n", "m", told.member_epoch)
        assert ask(protocol.CONSUMER_GROUP_HEARTBEAT, again).error_code is ErrorCode.NONE
