"""Settings of single groups, the list of what has settings, and clocks that do not blame members for a stall."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import CorruptData
from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, names
from headrace.wire.config import BrokerConfig
from headrace.wire.group_settings import GROUPS_FILE, GroupSettings
from headrace.wire.messages import configs, consumer_groups
from headrace.wire.testing import broker_in_thread
from headrace.wire.ticker import STALL_MS, ListeningClock

GROUP = 32
SESSION = "consumer.session.timeout.ms"
HEARTBEAT = "consumer.heartbeat.interval.ms"
SET, DELETE, APPEND = 0, 1, 2


@pytest.fixture
def config(tmp_path: Path) -> BrokerConfig:
    return BrokerConfig(data_dir=tmp_path / "data", port=0)


@pytest.fixture
def ask(config: BrokerConfig) -> Iterator[Asker]:
    with broker_in_thread(config) as address, asking(address) as ask:
        yield ask


def alter(ask: Asker, group: str, *changes: tuple[str, str | None, int], validate_only: bool = False) -> Any:
    entries = tuple(configs.AlteredConfig(*change) for change in changes)
    request = configs.AlterConfigsRequest((configs.AlteredResource(GROUP, group, entries),), validate_only)
    (answer,) = ask(protocol.INCREMENTAL_ALTER_CONFIGS, request).responses
    return answer


def described(ask: Asker, group: str) -> dict[str, tuple[str | None, int]]:
    request = configs.DescribeConfigsRequest((configs.ConfigResource(GROUP, group),))
    (answer,) = ask(protocol.DESCRIBE_CONFIGS, request).results
    return {entry.name: (entry.value, entry.config_source) for entry in answer.configs}


def interval_ms(ask: Asker, group: str) -> int:
    """What a member of the group is told."""
    request = consumer_groups.HeartbeatRequest(
        group, "m", 0, rebalance_timeout_ms=1_000, subscribed_topic_names=(), topic_partitions=()
    )
    return int(ask(protocol.CONSUMER_GROUP_HEARTBEAT, request).heartbeat_interval_ms)


def test_a_group_has_settings_of_its_own(config: BrokerConfig, ask: Asker) -> None:
    assert described(ask, "g") == {HEARTBEAT: ("5000", 5), SESSION: ("45000", 5)}, "Kafka's defaults"
    assert interval_ms(ask, "g") == 5_000
    assert names(alter(ask, "g", (HEARTBEAT, "700", SET), validate_only=True)) == ["NONE"]
    assert interval_ms(ask, "g") == 5_000
    assert names(alter(ask, "g", (HEARTBEAT, "700", SET), (SESSION, "9000", SET))) == ["NONE"]
    assert described(ask, "g") == {HEARTBEAT: ("700", 8), SESSION: ("9000", 8)}
    assert (interval_ms(ask, "g"), interval_ms(ask, "other")) == (700, 5_000)
    assert names(alter(ask, "g", (SESSION, None, DELETE))) == ["NONE"]
    assert GroupSettings(config).limits("g").session_timeout_ms == 45_000, "as after a restart"
    assert GroupSettings(config).limits("g").heartbeat_interval_ms == 700


@pytest.mark.parametrize(
    ("group", "name", "value", "operation", "says"),
    [
        ("g", "share.session.timeout.ms", "5000", SET, HEARTBEAT),
        ("g", SESSION, "soon", SET, "number of milliseconds"),
        ("g", SESSION, "1", SET, "500 to 1800000"),
        ("g", HEARTBEAT, "45000", SET, "below consumer.session.timeout.ms"),
        ("g", HEARTBEAT, "700", APPEND, "set to a value"),
        ("", HEARTBEAT, "700", SET, "empty"),
    ],
)
def test_other_settings_are_refused(ask: Asker, group: str, name: str, value: str, operation: int, says: str) -> None:
    answer = alter(ask, group, (name, value, operation))
    assert answer.error_code.name in {"INVALID_CONFIG", "INVALID_GROUP_ID"}
    assert says in answer.error_message


def test_a_file_that_cannot_be_read_is_refused(config: BrokerConfig) -> None:
    config.data_dir.mkdir()
    (config.data_dir / GROUPS_FILE).write_text(json.dumps({"format_version": 99, "groups": {}}))
    with pytest.raises(CorruptData, match="format version 99 is newer"):
        GroupSettings(config)


def test_everything_that_has_settings_is_listed(ask: Asker) -> None:
    ask.create("t")
    alter(ask, "g", (HEARTBEAT, "700", SET))

    def listed(*kinds: int, version: int = 1) -> Any:
        answer = ask(protocol.LIST_CONFIG_RESOURCES, configs.ListConfigResourcesRequest(kinds), version)
        return names(answer), [(e.resource_type, e.resource_name) for e in answer.config_resources]

    assert listed(GROUP) == (["NONE"], [(32, "g")])
    everything = listed()[1]
    assert {(2, "t"), (4, "1"), (8, "1"), (32, "g")} <= set(everything)
    assert listed(3) == (["UNSUPPORTED_VERSION"], [])
    assert listed(version=0) == (["NONE"], []), "only clients' metrics, which have no settings here"


def test_a_stall_does_not_count() -> None:
    now = [0]
    clock = ListeningClock(lambda: now[0])
    for _ in range(10):
        now[0] += 60
        assert clock.tick() == now[0]
    now[0] += 30_000
    assert clock.tick() == 600 + 50, "of a stall one period counts"
    now[0] += 50
    assert clock.tick() == clock() == 700
    now[0] += STALL_MS
    assert clock.tick() == 700 + STALL_MS, "that is just a busy moment"
    now[0] += 60_000
    clock.resume()
    now[0] += 50
    assert clock.tick() == 700 + STALL_MS + 60_050, "nobody waited for a tick meanwhile"
