"""All that is registered, rebuilt from the records of the topic `_schemas`.

The records are those that Confluent's registry writes, so that either can go on where the other stopped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, cast

from headrace.registry.compatibility import DEFAULT_LEVEL, LEVELS, Level
from headrace.registry.failures import SchemaNotFound, SubjectNotFound, VersionNotFound
from headrace.registry.schemas import Reference, Schema, require_kind

TOPIC: Final = "_schemas"
Mode: TypeAlias = Literal["READWRITE", "READONLY"]
MODES: Final[tuple[Mode, ...]] = ("READWRITE", "READONLY")


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


@dataclass(slots=True)
class State:
    """`levels` and `modes` hold what was set; under None what was set for all subjects."""

    subjects: dict[str, dict[int, Entry]] = field(default_factory=dict)
    ids: dict[int, Schema] = field(default_factory=dict)
    levels: dict[str | None, Level] = field(default_factory=dict)
    modes: dict[str | None, Mode] = field(default_factory=dict)
    versions_given: dict[str, int] = field(default_factory=dict)
    """The greatest version that a subject ever had: numbers are not given twice."""

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes in one record of the topic. Kinds that are not known are passed over: another registry may add some."""
        named = _object(key)
        given = None if value is None else _object(value)
        match named.get("keytype"):
            case "SCHEMA":
                self._schema(str(named["subject"]), int(named["version"]), given)
            case "DELETE_SUBJECT" if given is not None:
                self._deleted(str(named["subject"]), int(given.get("version", 0)))
            case "CONFIG":
                self._set(self.levels, named.get("subject"), (given or {}).get("compatibilityLevel"), LEVELS)
            case "MODE":
                self._set(self.modes, named.get("subject"), (given or {}).get("mode"), MODES)

    def by_id(self, schema_id: int) -> Schema:
        if schema_id not in self.ids:
            raise SchemaNotFound(f"no schema has the id {schema_id}")
        return self.ids[schema_id]

    def by_version(self, subject: str, version: int) -> Schema:
        """Also of a version that was deleted: others may refer to it."""
        if subject not in self.subjects:
            raise SubjectNotFound(f"no subject {subject!r}")
        if version not in self.subjects[subject]:
            raise VersionNotFound(f"the subject {subject!r} has no version {version}")
        return self.subjects[subject][version].schema

    def level(self, subject: str) -> Level:
        return self.levels.get(subject, self.levels.get(None, DEFAULT_LEVEL))

    def mode(self, subject: str) -> Mode:
        return self.modes.get(subject, self.modes.get(None, "READWRITE"))

    def _schema(self, subject: str, version: int, given: dict[str, Any] | None) -> None:
        versions = self.subjects.setdefault(subject, {})
        self.versions_given[subject] = max(version, self.versions_given.get(subject, 0))
        if given is None:
            versions.pop(version, None)
            if not versions:
                del self.subjects[subject]
            return
        references = tuple(
            Reference(one["name"], one["subject"], int(one["version"])) for one in given.get("references") or ()
        )
        schema = Schema(require_kind(given.get("schemaType", "AVRO")), str(given["schema"]), references)
        versions[version] = Entry(subject, version, int(given["id"]), schema, bool(given.get("deleted")))
        self.ids.setdefault(int(given["id"]), schema)

    def _deleted(self, subject: str, up_to: int) -> None:
        for version, entry in self.subjects.get(subject, {}).items():
            if version <= up_to:
                self.subjects[subject][version] = replace(entry, deleted=True)

    @staticmethod
    def _set(settings: dict[str | None, Any], subject: str | None, value: str | None, known: tuple[str, ...]) -> None:
        if value is None:
            settings.pop(subject, None)
        elif value in known:
            settings[subject] = value


def _object(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
