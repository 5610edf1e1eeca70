"""What the registry refuses, each with the number that clients of its REST API know."""

from __future__ import annotations

from typing import ClassVar

from headrace.errors import Conflict, InvalidInput, NotFound


class SubjectNotFound(NotFound):
    number: ClassVar[int] = 40401


class VersionNotFound(NotFound):
    number: ClassVar[int] = 40402


class SchemaNotFound(NotFound):
    number: ClassVar[int] = 40403


class SubjectDeleted(NotFound):
    """A subject was deleted before, and can only be removed for good."""

    number: ClassVar[int] = 40404


class SubjectNotDeleted(NotFound):
    """A subject must be deleted before it can be removed for good."""

    number: ClassVar[int] = 40405


class VersionDeleted(NotFound):
    number: ClassVar[int] = 40406


class VersionNotDeleted(NotFound):
    number: ClassVar[int] = 40407


class LevelNotFound(NotFound):
    number: ClassVar[int] = 40408


class ModeNotFound(NotFound):
    number: ClassVar[int] = 40409


class InvalidSchema(InvalidInput):
    number: ClassVar[int] = 42201


class InvalidVersion(InvalidInput):
    number: ClassVar[int] = 42202


class InvalidLevel(InvalidInput):
    number: ClassVar[int] = 42203


class InvalidMode(InvalidInput):
    number: ClassVar[int] = 42204


class NotPermitted(InvalidInput):
    number: ClassVar[int] = 42205


class ReferenceExists(InvalidInput):
    """Another schema refers to what should be deleted."""

    number: ClassVar[int] = 42206


class InvalidSubject(InvalidInput):
    number: ClassVar[int] = 42208


class InvalidRules(InvalidInput):
    number: ClassVar[int] = 42210


class Incompatible(Conflict):
    number: ClassVar[int] = 409
