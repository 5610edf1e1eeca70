"""Which changes of a .proto file old or new readers survive."""

from __future__ import annotations

import pytest

from headrace.formats.proto_schema import file_of, load_file
from headrace.registry.protobuf_files import protobuf_problems

OLD = (
    "message A { int32 n = 1; string s = 2; repeated int32 l = 3; oneof o { int32 x = 4; int32 y = 5; } B b = 6; } "
    "message B { int32 i = 1; }"
)


def problems(reader: str, writer: str) -> list[str]:
    syntax = 'syntax = "proto2";' if "required" in reader + writer else 'syntax = "proto3";'
    files = [load_file(file_of(f"{syntax} {text}")) for text in (reader, writer)]
    return protobuf_problems(files[0], files[1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("int32 n = 1;", "int64 n = 1;"),
        ("int32 n = 1;", "int32 number = 1;"),
        ("string s = 2;", "bytes s = 2;"),
        ("int32 n = 1;", ""),
        ("B b = 6;", "B b = 6; string more = 9;"),
        ("string s = 2;", "repeated string s = 2;"),
    ],
)
def test_changes_that_old_values_survive(old: str, new: str) -> None:
    assert problems(OLD.replace(old, new, 1), OLD) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("int32 n = 1;", "sint32 n = 1;", "int32 is not read as sint32"),
        ("int32 n = 1;", "string n = 1;", "int32 is not read as string"),
        ("repeated int32 l = 3;", "int32 l = 3;", "a single number and a list"),
        (" int32 y = 5;", "", "gone from a oneof"),
        ("message B { int32 i = 1; }", "message B { double i = 1; }", "A.b"),
        ("int32 n = 1; string s = 2;", "oneof p { int32 n = 1; string s = 2; }", "moved into the oneof"),
    ],
)
def test_changes_that_old_values_do_not_survive(old: str, new: str, words: str) -> None:
    found = problems(OLD.replace(old, new, 1), OLD)
    assert found
    assert words in found[0] or words == "A.b"


def test_a_message_may_not_go() -> None:
    assert problems("message B {}", "message A {} message B {}") == ["the message 'A' is gone"]


@pytest.mark.parametrize(
    ("reader", "writer", "words"),
    [
        ("package b; message A {}", "package a; message A {}", "the package changes from 'a' to 'b'"),
        ("message A {}", "message A { message N {} }", "the message 'A.N' is gone"),
        ("message A {}", "message A { required int32 n = 1; }", "A.n is required, and gone"),
        ("message A { required int32 n = 1; }", "message A {}", "A.n is required, and the writer"),
        (
            "message A { oneof o { int32 x = 1; int32 y = 2; } }",
            "message A { oneof o { int32 x = 1; } int32 y = 2; }",
            "'y' moved",
        ),
        ("message A { C b = 1; } message B {} message C {}", "message A { B b = 1; } message B {}", "'B' is not 'C'"),
        (
            "message A { map<string, int32> m = 1; }",
            "message A { repeated E m = 1; } message E {}",
            "is not read as map",
        ),
    ],
)
def test_changes_that_confluent_refuses(reader: str, writer: str, words: str) -> None:
    assert words in " ".join(problems(reader, writer))


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("message A { oneof o { int32 x = 1; int32 y = 2; } }", "message A { int32 x = 1; }"),
        ("message A { int32 x = 1; int32 y = 2; }", "message A { oneof o { int32 x = 1; int32 y = 2; } }"),
        ("message A {}", "message A { oneof o { int32 x = 1; int32 y = 2; } }"),
        ("message A { int32 x = 1; }", "message A { optional int32 x = 1; optional int32 y = 2; }"),
        ("message B {} message A { B b = 1; }", "message A { B b = 1; } message B {}"),
        ("message A { map<string, int32> m = 1; }", "message A { map<string, int64> m = 1; }"),
    ],
)
def test_changes_that_confluent_takes(reader: str, writer: str) -> None:
    assert problems(reader, writer) == []
