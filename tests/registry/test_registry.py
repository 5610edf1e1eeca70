"""What is registered stays, through restarts; versions, ids, levels, modes and deletions are as clients know them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.registry import Reference, Registry, Schema, SchemaKind
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
    assert registry.unset_level("s") == "NONE"
    assert registry.level("s", or_global=True) == "BACKWARD"


def test_json_schemas_that_differ_are_not_compared_and_refused_by_name(registry: Registry) -> None:
    registry.register("j", Schema("JSON", '{"type": "object"}'))
    assert registry.register("j", Schema("JSON", '{ "type":"object" }')).version == 1
    with pytest.raises(Incompatible, match="not compared here"):
        registry.register("j", Schema("JSON", '{"type": "string"}'))


def test_a_deleted_version_is_known_by_its_id_until_it_is_removed_for_good(registry: Registry) -> None:
    registry.register("s", avro("x"))
    registry.register("s", avro("x", "y"))
    with pytest.raises(VersionNotDeleted):
        registry.delete_version("s", "2", permanent=True)
    assert registry.delete_version("s", "latest") == 2
    with pytest.raises(VersionDeleted):
        registry.delete_version("s", "2")
    assert registry.versions("s") == [1]
    assert registry.versions("s", deleted=True) == [1, 2]
    assert registry.versions("s", deleted_only=True) == [2]
    assert registry.by_id(2) == avro("x", "y")
    # The same schema once more is a new version, in place of the deleted one.
    assert registry.register("s", avro("x", "y")).version == 3
    assert registry.versions("s", deleted=True) == [1, 3]
    with pytest.raises(SubjectNotDeleted):
        registry.delete_subject("s", permanent=True)
    assert registry.delete_subject("s") == [1, 3]
    with pytest.raises(SubjectDeleted):
        registry.delete_subject("s")
    assert registry.subjects() == []
    assert registry.subjects(deleted_only=True) == ["s"]
    with pytest.raises(SubjectNotFound):
        registry.entry("s", "latest")
    assert registry.delete_subject("s", permanent=True) == [1, 3]
    assert registry.subjects(deleted=True) == []
    with pytest.raises(SchemaNotFound):
        registry.by_id(2)


def test_ids_are_never_given_twice_and_versions_begin_anew_when_all_are_removed() -> None:
    journal = Memory()
    registry = Registry(journal)
    registry.register("s", avro("x"))
    registry.set_level("s", "NONE")
    registry.delete_subject("s")
    registry.delete_subject("s", permanent=True)
    # What compaction leaves of deleted records is nothing.
    journal.records = [record for record in journal.load() if record[1] is not None]
    again = Registry(journal)
    entry = again.register("s", avro("y"))
    assert (entry.version, entry.id) == (1, 2)
    with pytest.raises(LevelNotFound):
        again.level("s")


def test_a_read_only_subject_takes_nothing_new_and_loses_nothing(registry: Registry) -> None:
    registry.register("s", avro("x"))
    registry.set_mode(None, "readonly")
    assert registry.register("s", avro("x")).version == 1
    with pytest.raises(NotPermitted, match="READONLY"):
        registry.register("s", avro("x", "y"))
    with pytest.raises(NotPermitted, match="READONLY"):
        registry.delete_subject("s")
    with pytest.raises(NotPermitted, match="READONLY"):
        registry.delete_version("s", "1")
    for subject in (None, "s"):
        with pytest.raises(NotPermitted, match="READONLY"):
            registry.set_level(subject, "FULL")
    registry.set_mode("s", "READWRITE")
    assert registry.register("s", avro("x", "y")).version == 2
    registry.set_level("s", "FULL")
    assert registry.unset_mode("s") == "READWRITE"
    with pytest.raises(NotPermitted, match="READONLY"):
        registry.unset_level("s")


def test_schemas_of_another_registry_keep_their_ids_and_versions(registry: Registry) -> None:
    with pytest.raises(NotPermitted, match="mode IMPORT, and it is READWRITE"):
        registry.register("s", avro("x"), schema_id=70)
    registry.set_mode("s", "IMPORT")
    with pytest.raises(NotPermitted, match="comes with its id"):
        registry.register("s", avro("x"))
    entry = registry.register("s", avro("x"), schema_id=70, version=7)
    assert (entry.version, entry.id) == (7, 70)
    assert registry.register("s", avro("x"), schema_id=70, version=7) == entry
    # No level is looked at, and the versions may come in any order.
    assert registry.register("s", avro("x", "y", default=False), schema_id=60, version=3).id == 60
    with pytest.raises(NotPermitted, match="the id 70 is that of another schema"):
        registry.register("s", avro("z"), schema_id=70)
    with pytest.raises(NotPermitted, match="version 7 of 's'"):
        registry.register("s", avro("z"), schema_id=71, version=7)
    registry.set_mode("s", "READWRITE")
    with pytest.raises(InvalidSchema, match="version 3 is not the next one, which is 8"):
        registry.register("s", avro("x", "q"), version=3)
    assert registry.register("s", avro("x", "q"), version=8).id == 71
    with pytest.raises(NotPermitted, match="has schemas"):
        registry.set_mode("s", "IMPORT")
    assert registry.set_mode("s", "IMPORT", force=True) == "IMPORT"


ADDRESS = Schema(
    "AVRO", json.dumps({"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]})
)
CUSTOMER = Schema(
    "AVRO",
    json.dumps({"type": "record", "name": "Customer", "fields": [{"name": "home", "type": "Address"}]}),
    (Reference("Address", "addr", 1),),
)


def test_what_others_refer_to_is_not_deleted(registry: Registry) -> None:
    registry.register("addr", ADDRESS)
    registry.register("cust", CUSTOMER)
    assert registry.referenced_by("addr", "1") == [2]
    for delete in (lambda: registry.delete_subject("addr"), lambda: registry.delete_version("addr", "1")):
        with pytest.raises(ReferenceExists, match="'addr' is referred to by version 1 of 'cust'"):
            delete()
    registry.delete_subject("cust")
    assert registry.referenced_by("addr", "1") == []
    registry.delete_subject("addr")
    # Values that name the deleted schema can still be read, so what it refers to stays.
    with pytest.raises(ReferenceExists):
        registry.delete_subject("addr", permanent=True)
    registry.delete_subject("cust", permanent=True)
    assert registry.delete_subject("addr", permanent=True) == [1]


def test_what_was_accepted_once_is_taken_at_the_next_start() -> None:
    """Whatever was deleted since: an older version let go of what others referred to, and so may other registries."""
    journal = Memory()
    registry = Registry(journal)
    registry.register("addr", ADDRESS)
    registry.register("cust", CUSTOMER)
    for entry in (registry.entry("addr", "1"), registry.entry("cust", "1")):
        for value in (replace(entry, deleted=True).record()[1], None):
            journal.append(entry.key(), value)
            again = Registry(journal)
            assert again.register("new", avro("x")).version == 1
            del journal.records[-1]
    journal.append(b"\xff", b"no record at all")
    journal.append(b'{"keytype":"SCHEMA"}', b"{}")
    journal.append(b'{"keytype":"SCHEMA","subject":"p","version":1}', b'{"id":9,"schemaType":"XML","schema":"<a/>"}')
    assert Registry(journal).register("new", avro("x")).version == 1


def test_a_subject_with_a_schema_that_cannot_be_read_any_more_says_so() -> None:
    journal = Memory()
    registry = Registry(journal)
    registry.register("addr", ADDRESS)
    registry.register("cust", CUSTOMER)
    journal.append(registry.entry("addr", "1").key(), None)
    again = Registry(journal)
    with pytest.raises(Incompatible, match="cannot be read any more: no subject 'addr'"):
        again.register("cust", avro("x"))
    again.set_level("cust", "NONE")
    assert again.register("cust", avro("x")).version == 2


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (
            "AVRO",
            '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}',
            "'a' twice",
        ),
        ("AVRO", '{"type":"enum","name":"E","symbols":["A","A"]}', ""),
        ("JSON", '{"type": "bad-object"}', 'it is "bad-object"'),
        ("JSON", '{"properties": {"a": {"type": ["string", 3]}}}', "#/properties/a/type must be"),
        ("JSON", '{"properties": []}', "properties must be an object"),
        ("JSON", '{"items": [{"type": "integer"}, 5]}', "#/items must be"),
        ("JSON", "[" * 5000, "no JSON schema"),
        ("JSON", '{"not":' * 5000 + "{}" + "}" * 5000, ""),
        ("AVRO", '{"type":"array","items":' * 5000 + '"int"' + "}" * 5000, ""),
    ],
)
def test_what_is_no_schema_is_refused(registry: Registry, kind: SchemaKind, text: str, words: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        registry.register("s", Schema(kind, text))
    assert words in refused.value.message


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
    with pytest.raises(VersionNotFound):
        registry.compare("nobody", avro("x"), "1")
    assert registry.compare("nobody", avro("x"), "latest") == []
    with pytest.raises(LevelNotFound):
        registry.level("s")
    with pytest.raises(ModeNotFound):
        registry.mode("s")
    for unset in (registry.unset_level, registry.unset_mode):
        with pytest.raises(SubjectNotFound):
            unset("s")
    with pytest.raises(InvalidSubject):
        registry.register("a\nb", avro("x"))
    with pytest.raises(InvalidLevel) as refused:
        registry.set_level("s", "SIDEWAYS")
    assert "FULL_TRANSITIVE" in refused.value.valid
    with pytest.raises(InvalidMode):
        registry.set_mode("s", "FORWARD")
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
                    registry.set_level(subject, "FULL" if "y" in names else "NONE")
                case "mode":
                    registry.set_mode(subject, "READONLY" if names == ("z",) else "READWRITE")
        except (SubjectNotFound, SubjectDeleted, SubjectNotDeleted, NotPermitted, Incompatible):
            continue
    again = Registry(journal)
    assert again.id_max() == registry.id_max()
    assert again.subjects(deleted=True) == registry.subjects(deleted=True)
    for subject in registry.subjects(deleted=True):
        versions = registry.versions(subject, deleted=True)
        assert again.versions(subject, deleted=True) == versions
        for version in map(str, versions):
            assert again.entry(subject, version, deleted=True) == registry.entry(subject, version, deleted=True)
        assert again.level(subject, or_global=True) == registry.level(subject, or_global=True)
        assert again.mode(subject, or_global=True) == registry.mode(subject, or_global=True)
