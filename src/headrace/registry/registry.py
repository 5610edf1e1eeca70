"""The schema registry: what clients register, ask for, compare and delete."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from unicodedata import category

from headrace.errors import InvalidInput
from headrace.registry.compatibility import Level, incompatibilities, require_level
from headrace.registry.failures import (
    Incompatible,
    InvalidLevel,
    InvalidMode,
    InvalidSchema,
    InvalidSubject,
    InvalidVersion,
    LevelNotFound,
    ModeNotFound,
    NotPermitted,
    ReferenceExists,
    SchemaNotFound,
    SubjectDeleted,
    SubjectNotDeleted,
    SubjectNotFound,
    VersionDeleted,
    VersionNotDeleted,
    VersionNotFound,
)
from headrace.registry.journal import Journal
from headrace.registry.schemas import Schema, canonical, canonical_text, parsed, referenced
from headrace.registry.state import (
    DEFAULT_MODE,
    MODES,
    Entry,
    Mode,
    State,
    id_record,
    level_value,
    mode_value,
    setting_key,
)

SCHEMAS_MAX: Final = 100_000
ID_MAX: Final = (1 << 31) - 1
# Confluent's registry keeps these names for itself.
_RESERVED_SUBJECTS: Final = ("__GLOBAL", "__EMPTY")


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

    def subjects(self, *, deleted: bool = False, deleted_only: bool = False, prefix: str = "") -> list[str]:
        """With `deleted_only` those of which all versions are deleted."""
        with self._lock:
            found = [name for name in sorted(self._state.subjects) if name.startswith(prefix)]
            gone = {name for name in found if not self._live(name)}
            return [name for name in found if (name in gone if deleted_only else deleted or name not in gone)]

    def versions(self, subject: str, *, deleted: bool = False, deleted_only: bool = False) -> list[int]:
        with self._lock:
            entries = self._entries(subject, deleted=deleted or deleted_only)
            return [entry.version for entry in entries if entry.deleted or not deleted_only]

    def entries(self, *, deleted: bool = False, prefix: str = "", latest_only: bool = False) -> list[Entry]:
        """All versions of the subjects whose names begin so, or the latest of each."""
        with self._lock:
            found = [e for e in self._state.entries() if e.subject.startswith(prefix) and (deleted or not e.deleted)]
        return list({entry.subject: entry for entry in found}.values()) if latest_only else found

    def entry(self, subject: str, version: str, *, deleted: bool = False) -> Entry:
        """`version` is a number or `latest`. Raises SubjectNotFound, VersionNotFound, InvalidVersion."""
        with self._lock:
            number = _version_number(version)
            entries = self._entries(subject, deleted=deleted)
            found = entries[-1] if number is None else next((e for e in entries if e.version == number), None)
            if found is None:
                raise VersionNotFound(f"the subject {subject!r} has no version {version}")
            return found

    def places(self, schema_id: int, *, deleted: bool = False) -> list[tuple[str, int]]:
        """Subjects and versions that have this schema. Raises SchemaNotFound."""
        with self._lock:
            entries = self._state.with_id(schema_id)
            return sorted((e.subject, e.version) for e in entries if deleted or not e.deleted)

    def id_max(self) -> int:
        with self._lock:
            return self._state.id_max

    def referenced_by(self, subject: str, version: str) -> list[int]:
        """Ids of the schemas that refer to this one. Raises SubjectNotFound, VersionNotFound, InvalidVersion."""
        with self._lock:
            entry = self.entry(subject, version, deleted=True)
            return sorted({found.id for found in self._referrers([entry], deleted=False)})

    def register(
        self, subject: str, schema: Schema, *, schema_id: int | None = None, version: int | None = None
    ) -> Entry:
        """The entry with this schema: the one that is there, or a new one.

        An id can be asked for in mode IMPORT, where compatibility is not looked at. A version can be asked for there;
        elsewhere it must be the next one. Raises InvalidSchema, InvalidSubject, Incompatible, NotPermitted.
        """
        with self._lock:
            _require_subject(subject)
            found, text = self._checked(schema)
            known = [e for e in self._same(subject, text) if schema_id in (None, e.id) and version in (None, e.version)]
            if known:
                return known[-1]
            self._require_mode(subject, schema_id)
            if schema_id is None:
                self._require_compatible(subject, schema, found)
            entry = Entry(subject, self._version(subject, version), self._id(text, schema_id), schema)
            self._write(*entry.record())
            self._canonical[entry.id] = text
            self._drop_older(entry)
            return entry

    def find(self, subject: str, schema: Schema, *, deleted: bool = False) -> Entry:
        """The entry with this schema. Raises SubjectNotFound, SchemaNotFound, InvalidSchema."""
        with self._lock:
            self._entries(subject, deleted=deleted)
            _, text = self._checked(schema)
            found = self._same(subject, text, deleted=deleted)
            if not found:
                raise SchemaNotFound(f"the subject {subject!r} has no such schema")
            return found[-1]

    def compare(self, subject: str, schema: Schema, version: str | None) -> list[str]:
        """Why the schema could not follow a version, or, for None, the versions that the level compares it with.

        Raises VersionNotFound, InvalidVersion, InvalidSchema.
        """
        with self._lock:
            found, _ = self._checked(schema)
            old = self._live(subject)
            number = None if version is None else _version_number(version)
            if version is not None:
                old = old[-1:] if number is None else [entry for entry in old if entry.version == number]
            if number is not None and not old:
                raise VersionNotFound(f"the subject {subject!r} has no version {version}")
            return self._problems(schema, found, old, self._state.level(subject))

    def delete_version(self, subject: str, version: str, *, permanent: bool = False) -> int:
        """For good only what was deleted before.

        Raises SubjectNotFound, VersionNotFound, VersionDeleted, VersionNotDeleted, ReferenceExists, NotPermitted.
        """
        with self._lock:
            is_latest = _version_number(version) is None
            entry = self.entry(subject, version, deleted=permanent or not is_latest)
            if entry.deleted and not permanent:
                hint = "delete it with permanent=true to remove it for good"
                raise VersionDeleted(f"version {version} of {subject!r} was deleted before", hint=hint)
            if permanent and not entry.deleted:
                hint = "delete it first without permanent"
                raise VersionNotDeleted(f"version {version} of {subject!r} is not deleted", hint=hint)
            self._delete(subject, [entry], permanent=permanent)
            return entry.version

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """All versions. Raises SubjectNotFound, SubjectDeleted, SubjectNotDeleted, ReferenceExists, NotPermitted."""
        with self._lock:
            entries = self._entries(subject, deleted=True)
            live = [entry for entry in entries if not entry.deleted]
            if permanent and live:
                hint = "delete it first without permanent"
                raise SubjectNotDeleted(f"the subject {subject!r} is not deleted", hint=hint)
            if not permanent and not live:
                hint = "delete it with permanent=true to remove it for good"
                raise SubjectDeleted(f"the subject {subject!r} was deleted before", hint=hint)
            chosen = entries if permanent else live
            self._delete(subject, chosen, permanent=permanent)
            return [entry.version for entry in chosen]

    def level(self, subject: str | None, *, or_global: bool = False) -> Level:
        """Raises LevelNotFound where a subject has none of its own."""
        with self._lock:
            if subject is not None and not or_global and subject not in self._state.levels:
                raise LevelNotFound(f"the subject {subject!r} has no compatibility of its own")
            return self._state.level(subject)

    def set_level(self, subject: str | None, level: str) -> Level:
        """Raises InvalidLevel, and NotPermitted in mode READONLY."""
        try:
            wanted = require_level(level)
        except InvalidInput as error:
            raise InvalidLevel(error.message, valid=error.valid) from error
        with self._lock:
            self._require_writable(subject)
            self._write(setting_key("CONFIG", subject), level_value(wanted))
            return wanted

    def unset_level(self, subject: str | None) -> Level:
        """What was set. Raises SubjectNotFound where a subject had none of its own, NotPermitted in mode READONLY."""
        with self._lock:
            if subject is not None and subject not in self._state.levels:
                raise SubjectNotFound(f"the subject {subject!r} has no compatibility of its own")
            self._require_writable(subject)
            level = self._state.level(subject)
            self._write(setting_key("CONFIG", subject), None)
            return level

    def mode(self, subject: str | None, *, or_global: bool = False) -> Mode:
        """Raises ModeNotFound where a subject has none of its own."""
        with self._lock:
            if subject is not None and not or_global and subject not in self._state.modes:
                raise ModeNotFound(f"the subject {subject!r} has no mode of its own")
            return self._state.mode(subject)

    def set_mode(self, subject: str | None, mode: str, *, force: bool = False) -> Mode:
        """Raises InvalidMode, and NotPermitted for IMPORT where there are schemas and it is not forced."""
        wanted = next((known for known in MODES if known == mode.upper()), None)
        if wanted is None:
            raise InvalidMode(f"unknown mode {mode!r}", valid=MODES)
        with self._lock:
            schemas = self.entries() if subject is None else self._live(subject)
            if wanted == "IMPORT" and self._state.mode(subject) != "IMPORT" and schemas and not force:
                place = "the registry" if subject is None else f"the subject {subject!r}"
                raise NotPermitted(f"{place} has schemas: IMPORT could change them", hint="delete them, or force=true")
            self._write(setting_key("MODE", subject), mode_value(wanted))
            return wanted

    def unset_mode(self, subject: str | None) -> Mode:
        """What was set. Raises SubjectNotFound where a subject had none of its own."""
        with self._lock:
            if subject is not None and subject not in self._state.modes:
                raise SubjectNotFound(f"the subject {subject!r} has no mode of its own")
            mode = self._state.modes.get(subject, DEFAULT_MODE)
            self._write(setting_key("MODE", subject), None)
            return mode

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
        found = self._state.subjects.get(subject, {})
        entries = [found[version] for version in sorted(found) if deleted or not found[version].deleted]
        if not entries:
            raise SubjectNotFound(f"no subject {subject!r}")
        return entries

    def _live(self, subject: str) -> list[Entry]:
        found = self._state.subjects.get(subject, {})
        return [found[version] for version in sorted(found) if not found[version].deleted]

    def _checked(self, schema: Schema) -> tuple[Any, str]:
        """The schema as its library reads it, and its canonical form. Raises InvalidSchema."""
        try:
            found = parsed(schema, referenced(schema, self._state))
            return found, canonical(schema, found)
        except RecursionError:
            raise InvalidSchema("the schema is nested too deeply") from None
        except (InvalidInput, SubjectNotFound, VersionNotFound) as error:
            raise InvalidSchema(error.message, valid=error.valid, hint=error.hint, place=error.place) from error

    def _canonical_of(self, schema_id: int, schema: Schema) -> str:
        """Of a schema that was accepted once. Its references may be gone since: then its text stands for itself."""
        if schema_id not in self._canonical:
            try:
                self._canonical[schema_id] = self._checked(schema)[1]
            except InvalidSchema:
                return canonical_text(schema)
        return self._canonical[schema_id]

    def _same(self, subject: str, text: str, *, deleted: bool = False) -> list[Entry]:
        found = self._state.subjects.get(subject, {})
        entries = [found[version] for version in sorted(found) if deleted or not found[version].deleted]
        return [entry for entry in entries if self._canonical_of(entry.id, entry.schema) == text]

    def _version(self, subject: str, wanted: int | None) -> int:
        """Raises InvalidSchema for a version that is not the next one, NotPermitted for one that is there."""
        versions = self._state.subjects.get(subject, {})
        following = max(versions, default=0) + 1
        if wanted is None or wanted == following:
            return following
        if self._state.mode(subject) != "IMPORT":
            raise InvalidSchema(f"version {wanted} is not the next one, which is {following}")
        if wanted in versions:
            raise NotPermitted(f"version {wanted} of {subject!r} is another schema, or has another id")
        return wanted

    def _id(self, text: str, wanted: int | None) -> int:
        """A schema has one id, whichever subjects it is in. Raises NotPermitted for an id of another schema."""
        schemas = self._state.ids
        if wanted is not None:
            if wanted in schemas and self._canonical_of(wanted, schemas[wanted]) != text:
                raise NotPermitted(f"the id {wanted} is that of another schema")
            return wanted
        for schema_id, schema in schemas.items():
            if self._canonical_of(schema_id, schema) == text:
                return schema_id
        if len(schemas) >= SCHEMAS_MAX or self._state.id_max >= ID_MAX:
            raise NotPermitted(f"{len(schemas)} schemas are registered, up to id {self._state.id_max}: no more fit")
        return self._state.id_max + 1

    def _require_mode(self, subject: str, schema_id: int | None) -> None:
        self._require_writable(subject)
        mode = self._state.mode(subject)
        if schema_id is not None and mode != "IMPORT":
            hint = "leave the id out, or set the mode to IMPORT"
            raise NotPermitted(f"the id {schema_id} can only be chosen in mode IMPORT, and it is {mode}", hint=hint)
        if schema_id is None and mode == "IMPORT":
            raise NotPermitted(f"the subject {subject!r} is in mode IMPORT, in which a schema comes with its id")

    def _require_writable(self, subject: str | None) -> None:
        if self._state.mode(subject) == "READONLY":
            place = "the registry" if subject is None else f"the subject {subject!r}"
            raise NotPermitted(f"{place} is in mode READONLY", hint="set its mode to READWRITE")

    def _require_compatible(self, subject: str, schema: Schema, found: Any) -> None:
        problems = self._problems(schema, found, self._live(subject), self._state.level(subject))
        if problems:
            raise Incompatible(f"the schema is not compatible with the subject {subject!r}: {'; '.join(problems)}")

    def _problems(self, schema: Schema, found: Any, old: Sequence[Entry], level: Level) -> list[str]:
        if level == "NONE" or not old:
            return []
        compared = old if level.endswith("TRANSITIVE") else old[-1:]
        try:
            before = [(entry.schema.kind, self._checked(entry.schema)[0]) for entry in compared]
        except InvalidSchema as error:
            return [f"a schema that is there cannot be read any more: {error.message}"]
        return incompatibilities(schema.kind, found, before, level)

    def _referrers(self, entries: Sequence[Entry], *, deleted: bool) -> list[Entry]:
        """Other entries that refer to one of these."""
        places = {(entry.subject, entry.version) for entry in entries}
        return [
            entry
            for entry in self._state.entries()
            if (deleted or not entry.deleted)
            and (entry.subject, entry.version) not in places
            and any((one.subject, one.version) in places for one in entry.schema.references)
        ]

    def _delete(self, subject: str, entries: Sequence[Entry], *, permanent: bool) -> None:
        """For good only what no deleted schema refers to either: values that name that one can still be read."""
        self._require_writable(subject)
        referrers = self._referrers(entries, deleted=permanent)
        if referrers:
            named = ", ".join(f"version {one.version} of {one.subject!r}" for one in referrers[:3])
            more = "" if len(referrers) <= 3 else f" and {len(referrers) - 3} more"
            raise ReferenceExists(f"{subject!r} is referred to by {named}{more}", hint="delete these first")
        for entry in entries:
            if permanent:
                self._remove(entry)
            else:
                self._write(*replace(entry, deleted=True).record())
        if permanent and subject not in self._state.subjects:
            self._drop_settings(subject)

    def _remove(self, entry: Entry) -> None:
        """The number of the greatest id outlives its record, which compaction takes away."""
        if entry.id == self._state.id_max:
            self._write(*id_record(entry.id))
        self._write(entry.key(), None)
        if not self._state.has_id(entry.id):
            self._canonical.pop(entry.id, None)

    def _drop_older(self, entry: Entry) -> None:
        """Deleted versions of this subject with the same id, which is in use again."""
        for old in self._state.with_id(entry.id):
            if old.subject == entry.subject and old.deleted and old.version < entry.version:
                self._write(old.key(), None)

    def _drop_settings(self, subject: str) -> None:
        if subject in self._state.levels:
            self._write(setting_key("CONFIG", subject), None)
        if subject in self._state.modes:
            self._write(setting_key("MODE", subject), None)


def _version_number(version: str) -> int | None:
    """None for the latest. Raises InvalidVersion."""
    if version in ("latest", "-1"):
        return None
    is_number = version.isascii() and version.isdecimal() and len(version) <= len(str(ID_MAX))
    if not is_number or not 0 < int(version) <= ID_MAX:
        raise InvalidVersion(f"{version!r} is no version", valid=("latest", "a number from 1 on"))
    return int(version)


def _require_subject(subject: str) -> None:
    if not subject or subject in _RESERVED_SUBJECTS or any(category(one) == "Cc" for one in subject):
        raise InvalidSubject(f"{subject!r} cannot be a subject", hint="choose a name without control characters")
