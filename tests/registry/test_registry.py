"""What is registered stays, through restarts; versions, ids, levels, modes and deletions are as clients know them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.registry import Reference, Registry, Schema
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


class Memory:
    """The records of a topic, as compaction may leave them."""

    def __init__(self) -> None:
        self.records: list[tuple[bytes | None, bytes | None]] = []

    def load(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        newest = {key: index for index, (key, _) in enumerate(self.records)}
        return iter([record for index, record in enumerate(self.records) if newest[record[0]] == index])

    def append(self, key: bytes, value: bytes | None) -> None:
        self.records.append((key, value))


def avro(*names: str, default: bool = True) -> Schema:
    fields = [{"name": name, "type": "int", **({"default": 0} if default else {})} for name in names]
    return Schema("AVRO", json.dumps({"type": "record", "name": "R", "fields": fields}))


@pytest.fixture
def registry() -> Registry:
    return Registry(Memory())


def test_a_schema_has_one_id_and_one_version_in_a_subject(registry: Registry) -> None:
    first = registry.register("a", avro("x"))
    spaced = Schema("AVRO", json.dumps(json.loads(avro("x").text), indent=2))
    assert (first.version, first.id) == (1, 1)
    assert registry.register("a", spaced) == first
    assert registry.register("b", spaced).id == 1
    assert registry.register("b", avro("x", "y")).id == 2
    assert registry.find("b", avro("x", "y")).version == 2
    assert registry.places(1) == [("a", 1), ("b", 1)]
    assert registry.subjects() == ["a", "b"]
    assert registry.by_id(1) == avro("x")


def test_a_level_keeps_out_what_would_break_readers(registry: Registry) -> None:
    registry.register("s", avro("x"))
    new = avro("x", "y", default=False)
    with pytest.raises(Incompatible, match="y: the reader has a field without a default"):
        registry.register("s", new)
    assert registry.compare("s", new, "latest")
    assert registry.compare("s", avro("y"), None) == []
    registry.set_level("s", "forward")
    assert registry.register("s", new).version == 2
    registry.set_level("s", "FULL_TRANSITIVE")
    with pytest.raises(Incompatible):
        registry.register("s", Schema("JSON", "{}"))
    registry.set_level("s", "NONE")
    assert registry.register("s", Schema("JSON", "{}")).version == 3
    assert registry.set_level("s", None) == "BACKWARD"


def test_json_schemas_that_differ_are_not_compared_and_refused_by_name(registry: Registry) -> None:
    registry.register("j", Schema("JSON", '{"type": "object"}'))
    assert registry.register("j", Schema("JSON", '{ "type":"object" }')).version == 1
    with pytest.raises(Incompatible, match="not compared here"):
        registry.register("j", Schema("JSON", '{"type": "string"}'))


def test_a_deleted_version_is_known_by_its_id_and_its_number_is_not_given_again(registry: Registry) -> None:
    registry.register("s", avro("x"))
    registry.register("s", avro("x", "y"))
    with pytest.raises(SubjectInUse):
        registry.delete_version("s", "2", permanent=True)
    assert registry.delete_version("s", "latest") == 2
    assert registry.versions("s") == [1]
    assert registry.versions("s", deleted=True) == [1, 2]
    assert registry.by_id(2) == avro("x", "y")
    assert registry.register("s", avro("x", "y")).version == 3
    assert registry.delete_subject("s") == [1, 3]
    assert registry.subjects() == []
    with pytest.raises(SubjectNotFound):
        registry.entry("s", "latest")
    assert registry.delete_subject("s", permanent=True) == [1, 2, 3]
    assert registry.subjects(deleted=True) == []
    assert registry.register("s", avro("x")).version == 4


def test_a_read_only_subject_takes_nothing_new(registry: Registry) -> None:
    registry.register("s", avro("x"))
    registry.set_mode(None, "readonly")
    assert registry.register("s", avro("x")).version == 1
    with pytest.raises(NotPermitted, match="READONLY"):
        registry.register("s", avro("x", "y"))
    registry.set_mode("s", "READWRITE")
    assert registry.register("s", avro("x", "y")).version == 2


def test_schemas_may_take_types_from_others(registry: Registry) -> None:
    registry.register("r", avro("x"))
    user = Schema(
        "AVRO",
        json.dumps({"type": "record", "name": "U", "fields": [{"name": "r", "type": "R"}]}),
        (Reference("R", "r", 1),),
    )
    assert registry.register("u", user).id == 2
    registry.register("p", Schema("PROTOBUF", 'syntax = "proto3"; package q; message P { int32 i = 1; }'))
    text = 'syntax = "proto3"; import "p.proto"; message Q { q.P p = 1; }'
    registry.register("q", Schema("PROTOBUF", text, (Reference("p.proto", "p", 1),)))
    with pytest.raises(InvalidSchema, match=r"'p.proto' is not known"):
        registry.register("q", Schema("PROTOBUF", text))
    with pytest.raises(InvalidSchema, match="no subject 'no'"):
        registry.register("q", Schema("PROTOBUF", text, (Reference("p.proto", "no", 1),)))


def test_what_is_not_there_or_wrong_is_refused_by_name(registry: Registry) -> None:
    registry.register("s", avro("x"))
    with pytest.raises(SchemaNotFound):
        registry.by_id(9)
    with pytest.raises(VersionNotFound):
        registry.entry("s", "7")
    with pytest.raises(InvalidVersion):
        registry.entry("s", "first")
    with pytest.raises(SchemaNotFound):
        registry.find("s", avro("z"))
    with pytest.raises(SettingNotFound):
        registry.level("s")
    with pytest.raises(InvalidLevel) as refused:
        registry.set_level("s", "SIDEWAYS")
    assert "FULL_TRANSITIVE" in refused.value.valid
    with pytest.raises(InvalidMode):
        registry.set_mode("s", "IMPORT")
    with pytest.raises(InvalidSchema):
        registry.register("s", Schema("AVRO", "nonsense"))


steps = st.lists(
    st.tuples(
        st.sampled_from(["register", "delete", "remove", "level", "mode"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([("x",), ("x", "y"), ("z",)]),
    ),
    max_size=15,
)


@settings(deadline=None, max_examples=60)
@given(steps)
def test_a_restart_changes_nothing_also_after_compaction(done: list[tuple[str, str, tuple[str, ...]]]) -> None:
    journal = Memory()
    registry = Registry(journal)
    for kind, subject, names in done:
        try:
            match kind:
                case "register":
                    registry.register(subject, avro(*names))
                case "delete":
                    registry.delete_subject(subject)
                case "remove":
                    registry.delete_subject(subject, permanent=True)
                case "level":
                    registry.set_level(subject, "FULL" if "y" in names else None)
                case "mode":
                    registry.set_mode(subject, "READONLY" if names == ("z",) else "READWRITE")
        except (SubjectNotFound, SubjectInUse, NotPermitted):
            continue
    again = Registry(journal)
    assert again.subjects(deleted=True) == registry.subjects(deleted=True)
    for subject in registry.subjects(deleted=True):
        versions = registry.versions(subject, deleted=True)
        assert again.versions(subject, deleted=True) == versions
        for version in map(str, versions):
            assert again.entry(subject, version, deleted=True) == registry.entry(subject, version, deleted=True)
        assert again.level(subject, or_global=True) == registry.level(subject, or_global=True)
        assert again.mode(subject, or_global=True) == registry.mode(subject, or_global=True)
