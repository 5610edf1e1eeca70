"""The schema registry: what clients register, ask for, compare and delete."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from headrace.errors import InvalidInput
from headrace.registry.compatibility import DEFAULT_LEVEL, Level, incompatibilities, require_level
from headrace.registry.failures import (
    Incompatible,
    InvalidLevel,
    InvalidMode,
    InvalidSchema,
    InvalidVersion,
    NotPermitted,
    SchemaNotFound,
    SettingNotFound,
    SubjectInUse,
    SubjectNotFound,
    VersionNotFound,
)
from headrace.registry.journal import Journal
from headrace.registry.schemas import Schema, canonical, parsed, referenced
from headrace.registry.state import MODES, Entry, Mode, State, level_value, mode_value, setting_key

SCHEMAS_MAX: Final = 100_000


class Registry:
    """Methods may be called from any thread. What one returned is on disk.

    Raises ExternalFailure when the log cannot be reached; beside that, what each method says.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.RLock()
        self._loaded: State | None = None
        self._canonical: dict[int, str] = {}

    def by_id(self, schema_id: int) -> Schema:
        with self._lock:
            return self._state.by_id(schema_id)

    def by_version(self, subject: str, version: int) -> Schema:
        with self._lock:
            return self._state.by_version(subject, version)

    def subjects(self, *, deleted: bool = False) -> list[str]:
        with self._lock:
            subjects = self._state.subjects
            return sorted(name for name in subjects if any(deleted or not e.deleted for e in subjects[name].values()))

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        with self._lock:
            return [entry.version for entry in self._entries(subject, deleted=deleted)]

    def entry(self, subject: str, version: str, *, deleted: bool = False) -> Entry:
        """`version` is a number or `latest`. Raises SubjectNotFound, VersionNotFound, InvalidVersion."""
        with self._lock:
            entries = self._entries(subject, deleted=deleted)
            if version in ("latest", "-1"):
                return entries[-1]
            if not version.isdecimal() or not 0 < int(version) < 1 << 31:
                raise InvalidVersion(f"{version!r} is no version", valid=("latest", "a number from 1 on"))
            found = next((entry for entry in entries if entry.version == int(version)), None)
            if found is None:
                raise VersionNotFound(f"the subject {subject!r} has no version {version}")
            return found

    def places(self, schema_id: int) -> list[tuple[str, int]]:
        """Subjects and versions that have this schema. Raises SchemaNotFound."""
        with self._lock:
            self._state.by_id(schema_id)
            entries = [entry for versions in self._state.subjects.values() for entry in versions.values()]
            return sorted((e.subject, e.version) for e in entries if e.id == schema_id and not e.deleted)

    def referenced_by(self, subject: str, version: str) -> list[int]:
        """Ids of the schemas that refer to this one. Raises SubjectNotFound, VersionNotFound, InvalidVersion."""
        with self._lock:
            entry = self.entry(subject, version)
            place = (entry.subject, entry.version)
            ids = self._state.ids.items()
            return sorted(i for i, s in ids if any((r.subject, r.version) == place for r in s.references))

    def register(self, subject: str, schema: Schema) -> Entry:
        """The entry with this schema: the one that is there, or a new one.

        Raises InvalidSchema, Incompatible, NotPermitted (the mode is READONLY).
        """
        with self._lock:
            found, text = self._checked(schema)
            known = self._same(subject, text)
            if known is not None:
                return known
            if self._state.mode(subject) != "READWRITE":
                raise NotPermitted(f"the subject {subject!r} is in mode {self._state.mode(subject)}")
            problems = self._problems(schema, found, self._live(subject), self._state.level(subject))
            if problems:
                said = "; ".join(problems)
                raise Incompatible(f"the schema is not compatible with the subject {subject!r}: {said}")
            entry = Entry(subject, self._state.versions_given.get(subject, 0) + 1, self._id(text), schema)
            self._write(*entry.record())
            self._canonical[entry.id] = text
            return entry

    def find(self, subject: str, schema: Schema, *, deleted: bool = False) -> Entry:
        """The entry with this schema. Raises SubjectNotFound, SchemaNotFound, InvalidSchema."""
        with self._lock:
            self._entries(subject, deleted=deleted)
            _, text = self._checked(schema)
            entry = self._same(subject, text, deleted=deleted)
            if entry is None:
                raise SchemaNotFound(f"the subject {subject!r} has no such schema")
            return entry

    def compare(self, subject: str, schema: Schema, version: str | None) -> list[str]:
        """Why the schema could not follow a version, or, for None, the versions that the level compares it with."""
        with self._lock:
            found, _ = self._checked(schema)
            old = self._live(subject) if version is None else [self.entry(subject, version)]
            return self._problems(schema, found, old, self._state.level(subject))

    def delete_version(self, subject: str, version: str, *, permanent: bool = False) -> int:
        """For good only what was deleted before. Raises SubjectNotFound, VersionNotFound, SubjectInUse."""
        with self._lock:
            entry = self.entry(subject, version, deleted=permanent)
            self._delete(entry, permanent=permanent)
            return entry.version

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        with self._lock:
            entries = self._entries(subject, deleted=permanent)
            for entry in entries:
                self._delete(entry, permanent=permanent)
            return [entry.version for entry in entries]

    def level(self, subject: str | None, *, or_global: bool = False) -> Level:
        """Raises SettingNotFound where a subject has none of its own."""
        with self._lock:
            levels = self._state.levels
            if subject is None or (or_global and subject not in levels):
                return levels.get(None, DEFAULT_LEVEL)
            if subject not in levels:
                raise SettingNotFound(f"the subject {subject!r} has no compatibility of its own")
            return levels[subject]

    def set_level(self, subject: str | None, level: str | None) -> Level:
        """None takes back what was set. Raises InvalidLevel."""
        try:
            wanted = None if level is None else require_level(level)
        except InvalidInput as error:
            raise InvalidLevel(error.message, valid=error.valid) from error
        with self._lock:
            self._write(setting_key("CONFIG", subject), None if wanted is None else level_value(wanted))
            return self.level(subject, or_global=True)

    def mode(self, subject: str | None, *, or_global: bool = False) -> Mode:
        """Raises SettingNotFound where a subject has none of its own."""
        with self._lock:
            modes = self._state.modes
            if subject is None or (or_global and subject not in modes):
                return modes.get(None, "READWRITE")
            if subject not in modes:
                raise SettingNotFound(f"the subject {subject!r} has no mode of its own")
            return modes[subject]

    def set_mode(self, subject: str | None, mode: str | None) -> Mode:
        """None takes back what was set. Raises InvalidMode."""
        wanted = next((known for known in MODES if mode is not None and known == mode.upper()), None)
        if mode is not None and wanted is None:
            raise InvalidMode(f"unknown mode {mode!r}", valid=MODES)
        with self._lock:
            self._write(setting_key("MODE", subject), None if wanted is None else mode_value(wanted))
            return self.mode(subject, or_global=True)

    @property
    def _state(self) -> State:
        if self._loaded is None:
            state = State()
            for key, value in self._journal.load():
                state.apply(key, value)
            self._loaded = state
        return self._loaded

    def _write(self, key: bytes, value: bytes | None) -> None:
        state = self._state
        self._journal.append(key, value)
        state.apply(key, value)

    def _entries(self, subject: str, *, deleted: bool) -> list[Entry]:
        """In order of version. Raises SubjectNotFound where there are none."""
        entries = [e for e in self._state.subjects.get(subject, {}).values() if deleted or not e.deleted]
        if not entries:
            raise SubjectNotFound(f"no subject {subject!r}")
        return sorted(entries, key=lambda entry: entry.version)

    def _live(self, subject: str) -> list[Entry]:
        entries = [e for e in self._state.subjects.get(subject, {}).values() if not e.deleted]
        return sorted(entries, key=lambda entry: entry.version)

    def _checked(self, schema: Schema) -> tuple[Any, str]:
        """The schema as its library reads it, and its canonical form. Raises InvalidSchema."""
        try:
            found = parsed(schema, referenced(schema, self._state))
        except (InvalidInput, SubjectNotFound, VersionNotFound) as error:
            raise InvalidSchema(error.message, valid=error.valid, hint=error.hint, place=error.place) from error
        return found, canonical(schema, found)

    def _canonical_of(self, entry: Entry) -> str:
        if entry.id not in self._canonical:
            self._canonical[entry.id] = self._checked(entry.schema)[1]
        return self._canonical[entry.id]

    def _same(self, subject: str, text: str, *, deleted: bool = False) -> Entry | None:
        entries = self._state.subjects.get(subject, {}).values()
        known = [e for e in entries if (deleted or not e.deleted) and self._canonical_of(e) == text]
        return known[-1] if known else None

    def _id(self, text: str) -> int:
        """A schema has one id, whichever subjects it is in. Raises NotPermitted where there are too many."""
        for schema_id, schema in self._state.ids.items():
            if schema_id not in self._canonical:
                self._canonical[schema_id] = self._checked(schema)[1]
            if self._canonical[schema_id] == text:
                return schema_id
        if len(self._state.ids) >= SCHEMAS_MAX:
            raise NotPermitted(f"{SCHEMAS_MAX} schemas are registered, which is the limit")
        return max(self._state.ids, default=0) + 1

    def _problems(self, schema: Schema, found: Any, old: Sequence[Entry], level: Level) -> list[str]:
        before = [(entry.schema.kind, self._checked(entry.schema)[0]) for entry in old]
        return incompatibilities(schema.kind, found, before, level)

    def _delete(self, entry: Entry, *, permanent: bool) -> None:
        if permanent and not entry.deleted:
            hint = "delete it first without permanent"
            raise SubjectInUse(f"version {entry.version} of {entry.subject!r} is not deleted", hint=hint)
        if permanent:
            self._write(entry.key(), None)
        else:
            self._write(*replace(entry, deleted=True).record())
