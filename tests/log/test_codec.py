"""Compression as the clients of the world do it."""

from __future__ import annotations

import gzip
import struct
from contextlib import suppress

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import InvalidConfig
from headrace.log import CODECS, LogRefusal
from headrace.log import codec as codec_module
from headrace.log.codec import codec_number, compress, decompress

NUMBERS = range(len(CODECS))


@given(number=st.sampled_from(NUMBERS), payload=st.binary(max_size=5000), times=st.integers(1, 40))
def test_round_trip(number: int, payload: bytes, times: int) -> None:
    assert bytes(decompress(number, compress(number, payload * times))) == payload * times


def test_framed_snappy_of_java_clients() -> None:
    blocks = [b"first " * 100, b"second" * 100]
    packed = [bytes(cramjam.snappy.compress_raw(block)) for block in blocks]
    framed = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1) + b"".join(struct.pack(">i", len(p)) + p for p in packed)
    assert bytes(decompress(2, framed)) == b"".join(blocks)


def test_frames_that_do_not_state_their_size() -> None:
    payload = b"some text " * 50_000
    assert decompress(3, lz4.frame.compress(payload, store_size=False)) == payload
    assert decompress(4, zstandard.ZstdCompressor(write_content_size=False).compress(payload)) == payload


@given(number=st.integers(1, 7), payload=st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_else_happens(number: int, payload: bytes) -> None:
    with suppress(LogRefusal):
        assert len(decompress(number, payload)) < 10_000


@pytest.mark.parametrize("number", NUMBERS[1:])
def test_a_cut_payload_is_refused(number: int) -> None:
    packed = bytes(compress(number, b"abcdefgh" * 1000))
    with pytest.raises(LogRefusal):
        decompress(number, packed[:-6])


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec_module, "DECOMPRESSED_BYTES_MAX", 100_000)
    bomb = bytes(1_000_000)
    packed = {
        1: gzip.compress(bomb),
        2: bytes(cramjam.snappy.compress_raw(bomb)),
        3: lz4.frame.compress(bomb),
        4: zstandard.ZstdCompressor().compress(bomb),
    }
    for number, payload in packed.items():
        with pytest.raises(LogRefusal, match="more than 100000 bytes"):
            decompress(number, payload)


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(InvalidConfig, match="'brotli'") as refused:
        codec_number("brotli")
    assert refused.value.valid == CODECS
