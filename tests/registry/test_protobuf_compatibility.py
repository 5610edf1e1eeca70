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
    files = [load_file(file_of(f'syntax = "proto3"; {text}')) for text in (reader, writer)]
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
