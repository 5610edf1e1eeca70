"""The schema registry with the field's own clients: they register, ask, compare, delete, and write and read values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from headrace.formats.framing import split
from headrace.formats.proto_schema import message_of
from headrace.registry import Registry, TopicJournal
from headrace.wire.testing import BrokerProcess

USER: dict[str, Any] = {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}
WIDER = {**USER, "fields": [*USER["fields"], {"name": "age", "type": "int", "default": 0}]}
NARROW = {**USER, "fields": [*USER["fields"], {"name": "age", "type": "int"}]}


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data")
    broker.start()
    yield broker.bootstrap
    broker.stop()


def connected(port: int, password: str) -> SchemaRegistryClient:
    url = f"http://127.0.0.1:{port}/api/registry"
    return SchemaRegistryClient({"url": url, "basic.auth.user.info": f"any:{password}", "max.retries": 0})


@pytest.fixture(scope="module")
def registry(port: int) -> Iterator[SchemaRegistryClient]:
    with connected(port, "the-token") as client:
        yield client


def number_of(refused: pytest.ExceptionInfo[SchemaRegistryError]) -> int:
    return int(refused.value.error_code)


def test_versions_ids_levels_and_deletions(registry: SchemaRegistryClient, bootstrap: str) -> None:
    first = registry.register_schema("users", Schema(json.dumps(USER), "AVRO"))
    assert registry.register_schema("users", Schema(json.dumps(USER, indent=1), "AVRO")) == first
    assert registry.get_schema(first).schema_type == "AVRO"
    assert not registry.test_compatibility("users", Schema(json.dumps(NARROW), "AVRO"))
    assert registry.test_compatibility("users", Schema(json.dumps(WIDER), "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        registry.register_schema("users", Schema(json.dumps(NARROW), "AVRO"))
    assert refused.value.http_status_code == 409
    second = registry.register_schema("users", Schema(json.dumps(WIDER), "AVRO"))
    assert registry.get_latest_version("users").schema_id == second
    assert registry.get_versions("users") == [1, 2]
    assert registry.lookup_schema("users", Schema(json.dumps(USER), "AVRO")).version == 1
    assert "users" in registry.get_subjects()
    registry.set_compatibility("users", "FORWARD")
    assert registry.get_compatibility("users") == "FORWARD"
    assert registry.get_compatibility() == "BACKWARD"
    assert registry.delete_version("users", 1) == 1
    assert registry.delete_subject("users") == [2]
    assert "users" not in registry.get_subjects()
    # Another process that reads the topic sees the same.
    again = Registry(TopicJournal(bootstrap))
    assert again.versions("users", deleted=True) == [1, 2]
    assert again.level("users") == "FORWARD"


def test_what_is_wrong_has_the_number_that_clients_know(registry: SchemaRegistryClient) -> None:
    with pytest.raises(SchemaRegistryError) as refused:
        registry.get_latest_version("nobody")
    assert number_of(refused) == 40401
    with pytest.raises(SchemaRegistryError) as refused:
        registry.register_schema("broken", Schema("{", "AVRO"))
    assert number_of(refused) == 42201
    with pytest.raises(SchemaRegistryError) as refused:
        registry.get_schema(99_999)
    assert number_of(refused) == 40403
    with pytest.raises(SchemaRegistryError) as refused:
        registry.set_compatibility("x", "SIDEWAYS")
    assert number_of(refused) == 42203


def test_without_the_token_nothing_is_answered(port: int, stranger: httpx.Client) -> None:
    with connected(port, "a guess") as guessing, pytest.raises(SchemaRegistryError) as refused:
        guessing.get_subjects()
    assert refused.value.http_status_code == 401
    assert stranger.get("/api/registry/subjects").status_code == 401
    foreign = {"Authorization": "Bearer the-token", "Origin": "http://evil.example"}
    assert stranger.get("/api/registry/subjects", headers=foreign).status_code == 403


def test_avro_values_are_written_and_read_through_it(registry: SchemaRegistryClient) -> None:
    context = SerializationContext("avro-users", MessageField.VALUE)
    value = AvroSerializer(registry, json.dumps(USER))({"name": "Ada"}, context)
    assert value is not None
    (schema_id, _), _ = split(value, has_path=False)
    assert registry.get_latest_version("avro-users-value").schema_id == schema_id
    assert AvroDeserializer(registry, json.dumps(WIDER))(value, context) == {"name": "Ada", "age": 0}


def test_json_values_are_written_and_read_through_it(registry: SchemaRegistryClient) -> None:
    schema = json.dumps({"title": "User", "type": "object", "properties": {"name": {"type": "string"}}})
    context = SerializationContext("json-users", MessageField.VALUE)
    value = JSONSerializer(schema, registry)({"name": "Ada"}, context)
    assert JSONDeserializer(schema, schema_registry_client=registry)(value, context) == {"name": "Ada"}


def test_protobuf_values_are_written_and_read_through_it(registry: SchemaRegistryClient, tmp_path: Path) -> None:
    text = 'syntax = "proto3"; package t; message First { int32 n = 1; } message User { string name = 1; }'
    user = GetMessageClass(message_of(text, "User"))
    context = SerializationContext("proto-users", MessageField.VALUE)
    settings = {"use.deprecated.format": False}
    value = ProtobufSerializer(user, registry, settings)(user(name="Ada"), context)
    (_, path), _ = split(value, has_path=True)
    assert path == (1,)
    assert ProtobufDeserializer(user, settings, registry)(value, context) == user(name="Ada")
    # The same file as text is the same schema.
    registered = registry.get_latest_version("proto-users-value")
    assert registry.register_schema("proto-users-value", Schema(text, "PROTOBUF")) == registered.schema_id
