"""Topics whose values name schemas of a registry: reading them in tasks, registering what a sink writes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import InvalidInput
from headrace.formats import Decoder, ValueFormat, decoder
from headrace.formats.boundary import SafeDecoder
from headrace.formats.framing import FramedDecoder, MessagePath, SchemaKey
from headrace.registry import TOPIC, Registry, Schema, SchemaKind, Schemas, State, parsed, referenced
from headrace.registry.remote import RemoteRegistry
from headrace.spark.reading.topics import open_topic
from headrace.spark.specs import Output, SourceSpec, TableSpec, TopicLocation

if TYPE_CHECKING:
    import pyarrow as pa

EMBEDDED: Final = "embedded"
# An id that is not there may have been registered meanwhile; the topic is not read again more often than this.
_RELOAD_S: Final = 1.0
_KINDS: Final[dict[str, SchemaKind]] = {"avro": "AVRO", "protobuf": "PROTOBUF", "json": "JSON"}


def source_decoder(spec: SourceSpec | TableSpec, wanted: pa.Schema) -> SafeDecoder:
    """The decoder of a source's values, whether or not they name their schemas."""
    if spec.format.registry is None:
        return decoder(spec.format, wanted)
    schemas = _schemas(spec.format.registry, spec.location)
    make = _maker(spec.format, wanted, schemas)
    return SafeDecoder(FramedDecoder(wanted, make, has_path=spec.format.name == "protobuf"), wanted)


def with_schema_ids(outputs: tuple[Output, ...], registry: Callable[[], Registry]) -> tuple[Output, ...]:
    """Called when a query starts: what its sinks write is registered, as `<topic>-value`, afterwards.

    Raises Conflict and InvalidInput where the registry refuses a schema, ExternalFailure where it is not there.
    """
    return tuple(_registered(output, registry) for output in outputs)


class LoggedSchemas:
    """Reads the registry's own topic: tasks need neither the server nor its token."""

    def __init__(self, location: TopicLocation) -> None:
        self._location = replace(location, topic=TOPIC)
        self._state = State()
        self._read_to = 0
        self._read_s = float("-inf")

    def by_id(self, schema_id: int) -> Schema:
        if not self._state.has_id(schema_id):
            self._read_on()
        return self._state.by_id(schema_id)

    def by_version(self, subject: str, version: int) -> Schema:
        return self._state.by_version(subject, version)

    def _read_on(self) -> None:
        if time.monotonic() - self._read_s < _RELOAD_S:
            return
        with closing(open_topic(self._location)) as topic:
            start, end = topic.bounds()[0]
            for records in topic.read(0, max(start, self._read_to), end):
                for key, value in zip(records.keys.to_pylist(), records.values.to_pylist(), strict=True):
                    self._state.apply(key, value)
        self._read_to, self._read_s = end, time.monotonic()


def _schemas(registry: str, location: TopicLocation) -> Schemas:
    return LoggedSchemas(location) if registry == EMBEDDED else RemoteRegistry(registry)


def _maker(format_: ValueFormat, wanted: pa.Schema, schemas: Schemas) -> Callable[[SchemaKey], Decoder]:
    kind = _KINDS[format_.name]

    def make(key: SchemaKey) -> Decoder:
        schema = schemas.by_id(key[0])
        if schema.kind != kind:
            raise InvalidInput(f"the schema is {schema.kind} and the format is {format_.name}")
        if schema.kind == "JSON":
            return decoder(format_, wanted)
        found = parsed(schema, referenced(schema, schemas))
        return _avro(found, wanted) if schema.kind == "AVRO" else _protobuf(found, key[1], wanted)

    return make


def _avro(found: Any, wanted: pa.Schema) -> Decoder:
    from headrace.formats.avro_format import AvroDecoder  # noqa: PLC0415  (libraries are loaded where they are used)
    from headrace.registry.avro_schemas import whole_record  # noqa: PLC0415

    return AvroDecoder(wanted, whole_record(found), missing_is_null=True)


def _protobuf(found: Any, path: MessagePath, wanted: pa.Schema) -> Decoder:
    from headrace.formats.proto_schema import message_at  # noqa: PLC0415
    from headrace.formats.protobuf_format import ProtobufDecoder  # noqa: PLC0415

    return ProtobufDecoder(wanted, message_at(found, path), missing_is_null=True)


def _registered(output: Output, registry: Callable[[], Registry]) -> Output:
    format_ = output.value_format
    if format_ is None or format_.registry is None:
        return output
    schema = Schema(_KINDS[format_.name], format_.schema or "")
    subject = f"{output.target}-value"
    if format_.registry == EMBEDDED:
        schema_id = registry().register(subject, schema).id
    else:
        schema_id = RemoteRegistry(format_.registry).register(subject, schema)
    return replace(output, value_format=replace(format_, schema_id=schema_id))
