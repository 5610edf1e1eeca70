"""What clients of the schema registry send and get: the names are those of Confluent's REST API."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from headrace.errors import InvalidInput
from headrace.registry import Entry, Reference, Schema, SchemaKind
from headrace.registry.failures import InvalidRules, InvalidSchema
from headrace.registry.registry import ID_MAX
from headrace.registry.schemas import require_kind

REFERENCES_MAX: Final = 100


class SchemaReference(BaseModel):
    """What another schema is called in this one."""

    name: str
    subject: str
    version: int


class SchemaBody(BaseModel):
    """Clients send more than is used here, and newer ones more than that; what has a meaning is refused by name."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    text: str = Field(alias="schema")
    kind: str | None = Field("AVRO", alias="schemaType")
    references: list[SchemaReference] | None = Field(None, max_length=REFERENCES_MAX)
    id: int | None = Field(None, le=ID_MAX)
    version: int | None = Field(None, le=ID_MAX)
    metadata: Any = None
    rules: Any = Field(None, alias="ruleSet")
    tags_to_add: Any = Field(None, alias="schemaTagsToAdd")
    tags_to_remove: Any = Field(None, alias="schemaTagsToRemove")

    def schema_of(self) -> Schema:
        """Raises InvalidSchema and InvalidRules for what is not supported here."""
        if self.rules:
            raise InvalidRules("ruleSet is not supported here", hint="register the schema without it")
        for name, given in (("metadata", self.metadata), ("schema tags", self.tags_to_add or self.tags_to_remove)):
            if given:
                raise InvalidSchema(f"{name} is not supported here", hint="register the schema without it")
        references = tuple(Reference(one.name, one.subject, one.version) for one in self.references or ())
        return Schema(_kind(self.kind or "AVRO"), self.text, references)


class LevelBody(BaseModel):
    """Other settings of Confluent's are refused by name."""

    model_config = ConfigDict(extra="allow")

    compatibility: str

    def level(self) -> str:
        others = [name for name, value in (self.model_extra or {}).items() if value not in (None, False)]
        if others:
            raise InvalidInput(f"{others[0]} is not supported here", valid=("compatibility",))
        return self.compatibility


class ModeBody(BaseModel):
    """Also the answer."""

    mode: str


class LevelView(BaseModel):
    level: str = Field(alias="compatibilityLevel")


class SetLevelView(BaseModel):
    compatibility: str


class RegistryRoot(BaseModel):
    """Empty: that there is an answer is what clients ask for."""


class RegisteredSchema(BaseModel):
    """`references` only where there are some, `maxId` only where it was asked for."""

    model_config = ConfigDict(populate_by_name=True)

    text: str = Field(alias="schema")
    kind: SchemaKind = Field(alias="schemaType")
    references: list[SchemaReference] | None = None
    id_max: int | None = Field(None, alias="maxId")

    @classmethod
    def of(cls, schema: Schema, text: str, **more: Any) -> Self:
        references = [SchemaReference(name=r.name, subject=r.subject, version=r.version) for r in schema.references]
        return cls(schema=text, schemaType=schema.kind, references=references or None, **more)


class RegisteredVersion(RegisteredSchema):
    """One version of a subject."""

    subject: str
    version: int
    id: int

    @classmethod
    def of_entry(cls, entry: Entry, text: str) -> Self:
        return cls.of(entry.schema, text, subject=entry.subject, version=entry.version, id=entry.id)


class SubjectVersion(BaseModel):
    subject: str
    version: int


class Comparison(BaseModel):
    """`messages` only where they were asked for, with `verbose`."""

    is_compatible: bool
    messages: list[str] | None = None


class RegistryFailure(BaseModel):
    """Errors as clients of schema registries read them; `error_code` begins with the status."""

    error_code: int
    message: str


def _kind(kind: str) -> SchemaKind:
    try:
        return require_kind(kind)
    except InvalidInput as error:
        raise InvalidSchema(error.message, valid=error.valid) from error
