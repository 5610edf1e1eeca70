from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidInput
from headrace.server.contents import SHOWN_BYTES_MAX, encoded, shown

NASTY = [
    b"NaN",
    b"[Infinity]",
    b"1e999",
    b'"\\ud800"',
    b"9007199254740993",
    b"[" * 500 + b"]" * 500,
    b"[" * 50_000,
    b"9" * 5_000,
    b'{"a": 1} x',
]


@pytest.mark.parametrize("data", NASTY, ids=lambda data: repr(data[:12]))
def test_what_a_browser_would_show_wrongly_is_shown_as_text(data: bytes) -> None:
    content, error = shown(data, "auto")
    assert (content.encoding, content.value, error) == ("text", data.decode(), None)
    assert shown(data, "json")[1] is not None


@given(st.binary(max_size=200))
def test_any_bytes_can_be_shown_in_any_format(data: bytes) -> None:
    for wanted in ("auto", "json", "text", "base64"):
        content, _ = shown(data, wanted)
        json.dumps(content.model_dump(mode="json"), ensure_ascii=False, allow_nan=False).encode()
        assert content.size == len(data)
        if content.encoding == "base64":
            assert base64.b64decode(content.value) == data


@given(st.recursive(st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.text(), st.lists, max_leaves=20))
def test_json_is_shown_as_it_is(value: object) -> None:
    try:
        data = json.dumps(value).encode()
    except UnicodeEncodeError:
        return
    assert shown(data, "auto")[0].value == value


def test_large_values_are_cut() -> None:
    content, error = shown(b"x" * (SHOWN_BYTES_MAX + 1), "auto")
    assert (len(content.value), content.size) == (SHOWN_BYTES_MAX, SHOWN_BYTES_MAX + 1)
    assert error is not None


def test_what_is_sent_is_what_was_given() -> None:
    assert encoded(None, "text", "key") is None
    assert encoded("é", "text", "key") == "é".encode()
    assert encoded({"a": [1, None]}, "json", "value") == b'{"a":[1,null]}'
    assert encoded("AAE=", "base64", "value") == b"\x00\x01"
    for value, encoding in ((1, "text"), ("%", "base64"), ({}, "base64")):
        with pytest.raises(InvalidInput):
            encoded(value, encoding, "value")  # type: ignore[arg-type]  # each is an encoding
