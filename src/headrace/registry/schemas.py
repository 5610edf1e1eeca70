"""A schema as clients register it, and when two are the same."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, get_args

from headrace.errors import InvalidInput

SchemaKind: TypeAlias = Literal["AVRO", "JSON", "PROTOBUF"]
KINDS: Final = get_args(SchemaKind)
REFERENCES_MAX: Final = 100
# As it was registered; Avro with the types of others in it; Protobuf's descriptor in base64; extensions are not kept.
FORMS: Final = ("", "default", "resolved", "serialized", "ignore_extensions")


@dataclass(frozen=True, slots=True)
class Reference:
    """What another schema is called in this one: a type of Avro, a file that a .proto text imports."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Schema:
    """The text is kept as it was sent."""

    kind: SchemaKind
    text: str
    references: tuple[Reference, ...] = ()


class Schemas(Protocol):
    """Where registered schemas are found. Raises NotFound for what is not registered."""

    def by_id(self, schema_id: int) -> Schema: ...

    def by_version(self, subject: str, version: int) -> Schema: ...


def require_kind(kind: str) -> SchemaKind:
    if kind not in KINDS:
        raise InvalidInput(f"unknown schema type {kind!r}", valid=KINDS)
    return cast("SchemaKind", kind)


def referenced(schema: Schema, schemas: Schemas) -> dict[str, Schema]:
    """All schemas that this one needs, by the name it has for them, those that others need first.

    Raises NotFound, and InvalidInput for too many.
    """
    found: dict[str, Schema] = {}

    def collect(inner: Schema) -> None:
        for reference in inner.references:
            if len(found) >= REFERENCES_MAX:
                raise InvalidInput(f"a schema refers to more than {REFERENCES_MAX} others")
            if reference.name not in found:
                target = schemas.by_version(reference.subject, reference.version)
                collect(target)
                found[reference.name] = target

    collect(schema)
    return found


def parsed(schema: Schema, others: Mapping[str, Schema]) -> Any:
    """The schema as its library reads it, with the schemas it refers to. Raises InvalidInput where it is none."""
    if schema.kind == "AVRO":
        from headrace.registry.avro_schemas import parse_with  # noqa: PLC0415  (libraries are loaded where used)

        return parse_with(schema.text, [other.text for other in others.values()])
    if schema.kind == "PROTOBUF":
        from headrace.formats.proto_schema import file_of, load_file  # noqa: PLC0415

        imports = {name: file_of(other.text, name) for name, other in others.items()}
        return load_file(file_of(schema.text), imports)
    from headrace.registry.json_schemas import parse_json_schema  # noqa: PLC0415

    return parse_json_schema(schema.text)


def canonical(schema: Schema, found: Any) -> str:
    """Equal for schemas that mean the same, whatever their spaces; `found` is what `parsed` made of it."""
    if schema.kind == "PROTOBUF":
        from google.protobuf.descriptor_pb2 import FileDescriptorProto  # noqa: PLC0415

        file = FileDescriptorProto()
        found.CopyToProto(file)
        file.ClearField("name")
        meaning: object = file.SerializeToString(deterministic=True).hex()
    else:
        meaning = json.loads(schema.text)
    references = [[reference.name, reference.subject, reference.version] for reference in schema.references]
    return json.dumps([schema.kind, meaning, references])


def canonical_text(schema: Schema) -> str:
    """Of a schema that cannot be parsed any more: equal to no canonical form, for it has another length."""
    return json.dumps([schema.kind, schema.text])


def written_as(schema: Schema, schemas: Schemas, form: str) -> str:
    """The text in one of Confluent's forms; one that belongs to another kind of schema changes nothing.

    Raises InvalidInput for an unknown form.
    """
    if form not in FORMS:
        raise InvalidInput(f"unknown format {form!r}", valid=FORMS[1:])
    if form == "serialized" and schema.kind == "PROTOBUF":
        return _descriptor_text(schema, schemas)
    if form == "resolved" and schema.kind == "AVRO" and schema.references:
        from headrace.registry.avro_schemas import whole  # noqa: PLC0415

        return json.dumps(_without_marks(whole(parsed(schema, referenced(schema, schemas)))))
    return schema.text


def _without_marks(part: Any) -> Any:
    """Avro's library leaves keys of its own in what it read."""
    if isinstance(part, list):
        return [_without_marks(one) for one in part]
    if isinstance(part, dict):
        return {key: _without_marks(one) for key, one in part.items() if not key.startswith("__")}
    return part


def _descriptor_text(schema: Schema, schemas: Schemas) -> str:
    """A Protobuf schema as some clients want it: its descriptor in base64."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto  # noqa: PLC0415

    file = FileDescriptorProto()
    parsed(schema, referenced(schema, schemas)).CopyToProto(file)
    return base64.b64encode(file.SerializeToString()).decode()
