"""All that is registered, rebuilt from the records of the topic `_schemas`.

The records are those that Confluent's registry writes, so that either can go on where the other stopped.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from headrace.registry.compatibility import DEFAULT_LEVEL, LEVELS, Level
from headrace.registry.failures import SchemaNotFound, SubjectNotFound, VersionNotFound
from headrace.registry.schemas import KINDS, Reference, Schema, SchemaKind

TOPIC: Final = "_schemas"
Mode: TypeAlias = Literal["READWRITE", "READONLY", "IMPORT"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
DEFAULT_MODE: Final[Mode] = "READWRITE"


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of a subject. A deleted one can still be asked for by those who know it."""

    subject: str
    version: int
    id: int
    schema: Schema
    deleted: bool = False

    def record(self) -> tuple[bytes, bytes]:
        """Key and value in the topic."""
        value: dict[str, Any] = {"subject": self.subject, "version": self.version, "id": self.id}
        if self.schema.kind != "AVRO":
            value["schemaType"] = self.schema.kind
        if self.schema.references:
            value["references"] = [
                {"name": one.name, "subject": one.subject, "version": one.version} for one in self.schema.references
            ]
        return self.key(), _json({**value, "schema": self.schema.text, "deleted": self.deleted})

    def key(self) -> bytes:
        return _json({"keytype": "SCHEMA", "subject": self.subject, "version": self.version, "magic": 1})


def setting_key(kind: Literal["CONFIG", "MODE"], subject: str | None) -> bytes:
    return _json({"keytype": kind, "subject": subject, "magic": 0})


def level_value(level: Level) -> bytes:
    return _json({"compatibilityLevel": level})


def mode_value(mode: Mode) -> bytes:
    return _json({"mode": mode})


def id_record(id_max: int) -> tuple[bytes, bytes]:
    """The greatest id that was given, for when the record that had it is deleted.

    Confluent's registry passes over records with this key, whatever their value.
    """
    return _json({"keytype": "NOOP", "magic": 0}), _json({"idMax": id_max})


@dataclass(slots=True)
class State:
    """`levels` and `modes` hold what was set; under None what was set for all subjects.

    A record is taken in as it is: what was accepted once is not checked again, for what it needed may be deleted.
    """

    subjects: dict[str, dict[int, Entry]] = field(default_factory=dict)
    levels: dict[str | None, Level] = field(default_factory=dict)
    modes: dict[str | None, Mode] = field(default_factory=dict)
    id_max: int = 0
    """The greatest id that was ever given: ids are not given twice, for values name them."""
    _by_id: dict[int, dict[tuple[str, int], Entry]] = field(default_factory=dict)

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes in one record of the topic. What is not known is passed over: another registry may have written it."""
        with suppress(KeyError, TypeError, ValueError):
            self._apply(_object(key), None if value is None else _object(value))

    @property
    def ids(self) -> dict[int, Schema]:
        return {schema_id: next(iter(entries.values())).schema for schema_id, entries in self._by_id.items()}

    def has_id(self, schema_id: int) -> bool:
        return schema_id in self._by_id

    def by_id(self, schema_id: int) -> Schema:
        if schema_id not in self._by_id:
            raise SchemaNotFound(f"no schema has the id {schema_id}")
        return next(iter(self._by_id[schema_id].values())).schema

    def with_id(self, schema_id: int) -> list[Entry]:
        """All entries that have this schema, also deleted ones. Raises SchemaNotFound."""
        self.by_id(schema_id)
        return list(self._by_id[schema_id].values())

    def by_version(self, subject: str, version: int) -> Schema:
        """Also of a version that was deleted: others may refer to it."""
        if subject not in self.subjects:
            raise SubjectNotFound(f"no subject {subject!r}")
        if version not in self.subjects[subject]:
            raise VersionNotFound(f"the subject {subject!r} has no version {version}")
        return self.subjects[subject][version].schema

    def entries(self) -> list[Entry]:
        """All, also deleted ones, in order of subject and version."""
        return [
            self.subjects[name][version] for name in sorted(self.subjects) for version in sorted(self.subjects[name])
        ]

    def level(self, subject: str | None) -> Level:
        return self.levels.get(subject, self.levels.get(None, DEFAULT_LEVEL))

    def mode(self, subject: str | None) -> Mode:
        return self.modes.get(subject, self.modes.get(None, DEFAULT_MODE))

    def _apply(self, named: dict[str, Any], given: dict[str, Any] | None) -> None:
        match named.get("keytype"):
            case "SCHEMA":
                self._schema(str(named["subject"]), int(named["version"]), given)
            case "DELETE_SUBJECT" if given is not None:
                self._deleted(str(named["subject"]), int(given.get("version", 0)))
            case "CONFIG":
                self._set(self.levels, named.get("subject"), (given or {}).get("compatibilityLevel"), LEVELS)
            case "MODE":
                self._set(self.modes, named.get("subject"), (given or {}).get("mode"), MODES)
            case "NOOP" if given is not None:
                self.id_max = max(self.id_max, int(given.get("idMax", 0)))

    def _schema(self, subject: str, version: int, given: dict[str, Any] | None) -> None:
        if given is None:
            self._forget(subject, version)
            return
        entry = Entry(subject, version, int(given["id"]), _schema_of(given), bool(given.get("deleted")))
        self._forget(subject, version)
        self._keep(entry)
        self.id_max = max(self.id_max, entry.id)

    def _keep(self, entry: Entry) -> None:
        self.subjects.setdefault(entry.subject, {})[entry.version] = entry
        self._by_id.setdefault(entry.id, {})[entry.subject, entry.version] = entry

    def _forget(self, subject: str, version: int) -> None:
        versions = self.subjects.get(subject, {})
        entry = versions.pop(version, None)
        if entry is None:
            return
        self._by_id[entry.id].pop((subject, version))
        if not self._by_id[entry.id]:
            del self._by_id[entry.id]
        if not versions:
            del self.subjects[subject]

    def _deleted(self, subject: str, up_to: int) -> None:
        for entry in list(self.subjects.get(subject, {}).values()):
            if entry.version <= up_to:
                self._keep(replace(entry, deleted=True))

    @staticmethod
    def _set(settings: dict[str | None, Any], subject: str | None, value: str | None, known: tuple[str, ...]) -> None:
        if value is None:
            settings.pop(subject, None)
        elif value in known:
            settings[subject] = value


def _schema_of(given: dict[str, Any]) -> Schema:
    """Raises KeyError, TypeError and ValueError for what is no schema."""
    references = tuple(
        Reference(one["name"], one["subject"], int(one["version"])) for one in given.get("references") or ()
    )
    kind = given.get("schemaType") or "AVRO"
    if kind not in KINDS:
        raise ValueError(f"unknown schema type {kind!r}")
    return Schema(cast("SchemaKind", kind), str(given["schema"]), references)


def _object(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
