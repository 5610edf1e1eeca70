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
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from headrace.formats.framing import split
from headrace.formats.proto_schema import file_of, message_of
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


def proto_file(pool: DescriptorPool, name: str, text: str) -> FileDescriptor:
    file = file_of(text, name)
    file.name = name
    pool.AddSerializedFile(file.SerializeToString())
    return pool.FindFileByName(name)


def test_protobuf_with_imports_as_clients_register_it(registry: SchemaRegistryClient) -> None:
    """The client's default names an import's subject after its file, slashes and all."""
    pool = DescriptorPool()
    proto_file(pool, "shop/common/addr.proto", 'syntax = "proto3"; package c; message Addr { string city = 1; }')
    text = 'syntax = "proto3"; package s; import "shop/common/addr.proto"; message Cust { c.Addr home = 1; }'
    customer = GetMessageClass(proto_file(pool, "shop/cust.proto", text).message_types_by_name["Cust"])
    context = SerializationContext("customers", MessageField.VALUE)
    settings = {"use.deprecated.format": False}
    sent = customer(home={"city": "Ulm"})
    value = ProtobufSerializer(customer, registry, settings)(sent, context)
    assert ProtobufDeserializer(customer, settings, registry)(value, context) == sent
    assert "shop/common/addr.proto" in registry.get_subjects()


def test_subjects_with_slashes_work_on_every_route(client: httpx.Client) -> None:
    body = {"schema": json.dumps(USER)}
    url, name = "/api/registry", "a%2Fversions%2F1%25"
    entry = client.post(f"{url}/subjects/{name}/versions", json=body).json()
    assert entry["subject"] == "a/versions/1%"
    assert client.get(f"{url}/subjects/{name}/versions").json() == [1]
    assert client.get(f"{url}/subjects/{name}/versions/1/schema").json() == USER
    assert client.get(f"{url}/subjects/{name}/versions/1/referencedby").json() == []
    assert client.post(f"{url}/subjects/{name}", json=body).json()["version"] == 1
    assert client.post(f"{url}/compatibility/subjects/{name}/versions/1", json=body).json()["is_compatible"]
    for path, setting in (("config", {"compatibility": "FULL"}), ("mode", {"mode": "READWRITE"})):
        for ask in (client.put(f"{url}/{path}/{name}", json=setting), client.get(f"{url}/{path}/{name}")):
            assert ask.status_code == 200
        assert client.delete(f"{url}/{path}/{name}").status_code == 200
    assert client.delete(f"{url}/subjects/{name}/versions/1").json() == 1
    assert client.delete(f"{url}/subjects/{name}?permanent=true").json() == [1]


def test_lists_are_filtered_and_paged(client: httpx.Client) -> None:
    url = "/api/registry"
    for name in ("list-a", "list-b", "list-c"):
        client.post(f"{url}/subjects/{name}/versions", json={"schema": json.dumps({**USER, "name": name[-1]})})
    client.post(f"{url}/subjects/list-a/versions", json={"schema": json.dumps({**WIDER, "name": "a"})})
    client.delete(f"{url}/subjects/list-c")

    def asked(path: str) -> Any:
        return client.get(f"{url}/{path}").json()

    assert asked("subjects?subjectPrefix=list-") == ["list-a", "list-b"]
    assert asked("subjects?subjectPrefix=:*:list-&deleted=true&offset=1&limit=1") == ["list-b"]
    assert asked("subjects?subjectPrefix=list-&deletedOnly=true") == ["list-c"]
    assert asked("subjects/list-a/versions?offset=1") == [2]
    assert asked("subjects/list-a/versions?limit=0") == [1, 2]
    assert asked("subjects/list-c/versions?deletedOnly=true") == [1]
    places = [(one["subject"], one["version"]) for one in asked("schemas?subjectPrefix=list-&deleted=true")]
    assert places == [("list-a", 1), ("list-a", 2), ("list-b", 1), ("list-c", 1)]
    latest = asked("schemas?subjectPrefix=list-&latestOnly=true")
    assert [(one["subject"], one["version"]) for one in latest] == [("list-a", 2), ("list-b", 1)]
    schema_id = asked("subjects/list-c/versions/1?deleted=true")["id"]
    assert asked(f"schemas/ids/{schema_id}/subjects") == []
    assert asked(f"schemas/ids/{schema_id}/subjects?deleted=true") == ["list-c"]
    assert asked(f"schemas/ids/{schema_id}?fetchMaxId=true")["maxId"] >= schema_id


@pytest.mark.parametrize(
    ("method", "path", "body", "number"),
    [
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "id": 9_999}, 42205),
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "metadata": {"properties": {"a": "b"}}}, 42201),
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "ruleSet": {"domainRules": [{}]}}, 42210),
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "version": 3}, 42201),
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "schemaType": "XML"}, 42201),
        ("POST", "subjects/n/versions", {"schema": json.dumps(USER), "id": 1 << 40}, 422),
        ("POST", "subjects/n/versions", {}, 422),
        ("PUT", "config/n", {"compatibility": "FULL", "alias": "other"}, 400),
        ("PUT", "mode", {"mode": "FORWARD"}, 42204),
        ("GET", "config/nobody", None, 40408),
        ("GET", "mode/nobody", None, 40409),
        ("DELETE", "config/nobody", None, 40401),
        ("DELETE", "mode/nobody", None, 40401),
        ("DELETE", "subjects/nobody", None, 40401),
        ("GET", "subjects/nobody/versions/0", None, 42202),
        ("GET", "schemas/ids/99999", None, 40403),
    ],
)
def test_what_is_not_taken_is_refused_by_its_number(
    client: httpx.Client, method: str, path: str, body: dict[str, Any] | None, number: int
) -> None:
    answer = client.request(method, f"/api/registry/{path}", json=body)
    assert answer.json()["error_code"] == number, answer.text
    assert answer.status_code == (number if number < 1000 else number // 100)


def test_a_schema_is_written_in_the_form_that_is_asked_for(client: httpx.Client) -> None:
    url = "/api/registry"
    address = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}
    client.post(f"{url}/subjects/form-addr/versions", json={"schema": json.dumps(address)})
    customer = {**address, "name": "Customer", "fields": [{"name": "home", "type": "Address"}]}
    references = [{"name": "Address", "subject": "form-addr", "version": 1}]
    body = {"schema": json.dumps(customer), "references": references}
    entry = client.post(f"{url}/subjects/form-cust/versions", json=body).json()
    for path in (f"schemas/ids/{entry['id']}", "subjects/form-cust/versions/1"):
        assert json.loads(client.get(f"{url}/{path}").json()["schema"]) == customer
        resolved = json.loads(client.get(f"{url}/{path}?format=resolved").json()["schema"])
        assert resolved == {**customer, "fields": [{"name": "home", "type": address}]}
        refused = client.get(f"{url}/{path}?format=pretty")
        assert refused.status_code == 400
        assert "resolved" in refused.json()["message"]
