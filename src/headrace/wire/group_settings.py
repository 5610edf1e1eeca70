"""Settings of single groups of the newer protocol, in one file that is replaced whole. All others have the broker's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from headrace.errors import CorruptData, DiskFailure
from headrace.process.files import write_atomically
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.config import BrokerConfig
from headrace.wire.coordinators.consumer_group import ConsumerLimits

GROUPS_FILE: Final = "groups.json"
FORMAT_VERSION: Final = 1
# Groups with settings of their own.
GROUPS_MAX: Final = 10_000
HEARTBEAT_INTERVAL_MS_MIN: Final = 100

SESSION_TIMEOUT: Final = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "consumer.heartbeat.interval.ms"

Settings = Mapping[str, str]


class GroupSettings:
    """What is in the file is what holds: a change takes effect once it is on disk."""

    def __init__(self, config: BrokerConfig) -> None:
        """Reads the file, if there is one. Raises CorruptData."""
        self._config = config
        self._path = config.data_dir / GROUPS_FILE
        self._by_group = self._load()
        self._limits: dict[str, ConsumerLimits] = {}
        self._defaults = self._made({})

    def defaults(self) -> dict[str, str]:
        return {
            SESSION_TIMEOUT: str(self._config.consumer_session_timeout_ms),
            HEARTBEAT_INTERVAL: str(self._config.consumer_heartbeat_interval_ms),
        }

    def groups(self) -> tuple[str, ...]:
        return tuple(self._by_group)

    def of(self, group_id: str) -> Settings:
        """Those that differ from the broker's."""
        return self._by_group.get(group_id, {})

    def limits(self, group_id: str) -> ConsumerLimits:
        if group_id not in self._by_group:
            return self._defaults
        if group_id not in self._limits:
            self._limits[group_id] = self._made(self._by_group[group_id])
        return self._limits[group_id]

    def check(self, settings: Settings) -> None:
        """Raises a Refusal that names the setting and its valid values."""
        for name, value in settings.items():
            if name not in self.defaults():
                known = ", ".join(self.defaults())
                raise Refusal(ErrorCode.INVALID_CONFIG, f"unknown group setting {name!r}; known are {known}")
            if not value.isdecimal():
                raise Refusal(ErrorCode.INVALID_CONFIG, f"{name} is {value!r}; it must be a number of milliseconds")
        limits, config = self._made(settings), self._config
        least, most = config.session_timeout_ms_min, config.session_timeout_ms_max
        if not least <= limits.session_timeout_ms <= most:
            raise Refusal(ErrorCode.INVALID_CONFIG, f"{SESSION_TIMEOUT} must be {least} to {most}")
        if not HEARTBEAT_INTERVAL_MS_MIN <= limits.heartbeat_interval_ms < limits.session_timeout_ms:
            valid = f"{HEARTBEAT_INTERVAL_MS_MIN} or more and below {SESSION_TIMEOUT} ({limits.session_timeout_ms})"
            raise Refusal(ErrorCode.INVALID_CONFIG, f"{HEARTBEAT_INTERVAL} must be {valid}")

    def put(self, group_id: str, settings: Settings) -> None:
        """The group has exactly these settings afterwards. Raises a Refusal; then everything is as before."""
        self.check(settings)
        changed = {known: own for known, own in self._by_group.items() if known != group_id}
        if settings:
            changed[group_id] = dict(settings)
        if len(changed) > GROUPS_MAX:
            raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {GROUPS_MAX} groups with settings of their own")
        try:
            write_atomically(self._path, json.dumps({"format_version": FORMAT_VERSION, "groups": changed}, indent=1))
        except DiskFailure as error:
            raise Refusal(ErrorCode.KAFKA_STORAGE_ERROR, error.message) from error
        self._by_group = changed
        self._limits.pop(group_id, None)

    def _made(self, settings: Settings) -> ConsumerLimits:
        whole = {**self.defaults(), **settings}
        return ConsumerLimits(
            self._config.group_members_max, int(whole[SESSION_TIMEOUT]), int(whole[HEARTBEAT_INTERVAL])
        )

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            content = json.loads(self._path.read_text())
            if int(content["format_version"]) > FORMAT_VERSION:
                raise ValueError(f"format version {content['format_version']} is newer than {FORMAT_VERSION}")
            return {
                group: {name: str(value) for name, value in own.items()} for group, own in content["groups"].items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptData(
                f"{self._path} cannot be read: {type(error).__name__}: {error}",
                hint="restore it from a backup, or remove it: groups then have the broker's settings",
            ) from error
