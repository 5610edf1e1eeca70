"""Compression as the clients of the world do it."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
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


PEAK = """
import gzip, resource, struct, sys
import cramjam, lz4.frame, zstandard
from headrace.log import LogRefusal, codec

codec.DECOMPRESSED_BYTES_MAX = 16 << 20
piece, count = bytes(1 << 20), 512
stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
unsized = b"".join([*(stream.compress(piece) for _ in range(count)), stream.flush()])
stream = zstandard.ZstdCompressor().compressobj(size=count << 20)
sized = b"".join([*(stream.compress(piece) for _ in range(count)), stream.flush()])
with lz4.frame.LZ4FrameCompressor() as packer:
    framed = packer.begin() + b"".join(packer.compress(piece) for _ in range(count)) + packer.flush()
packer = __import__("zlib").compressobj(1, 8, 31)
zipped = b"".join([*(packer.compress(piece) for _ in range(count)), packer.flush()])
block = bytes(cramjam.snappy.compress_raw(bytes(15 << 20)))
xerial = b"\\x82SNAPPY\\x00" + struct.pack(">ii", 1, 1) + (struct.pack(">i", len(block)) + block) * 30
stated = b"\\xff\\xff\\xff\\xff\\x0f" + block[4:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for number, payload in ((4, unsized), (4, sized), (3, framed), (1, zipped), (2, xerial), (2, stated)):
    try:
        codec.decompress(number, payload)
    except LogRefusal as refusal:
        assert refusal.error_code == 10, refusal
    else:
        sys.exit(f"{codec.CODECS[number]} is not bounded")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_the_limit_holds_while_a_bomb_is_unpacked() -> None:
    """Half a gigabyte each, in every framing; the peak of the process tells what was unpacked of them."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100_000


def test_blocks_that_hold_nothing_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec_module, "ZSTD_BLOCKS_MAX", 100)
    header = zstandard.ZstdCompressor(write_content_size=False).compress(b"x")[:6]
    with pytest.raises(LogRefusal, match="more than"):
        decompress(4, header + bytes(3 * 200))


def test_a_payload_of_many_blocks_is_whole() -> None:
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    pieces = [bytes([index % 251]) * 50_000 for index in range(100)]
    packed = b"".join(stream.compress(piece) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for piece in pieces)
    packed += stream.flush()
    assert bytes(decompress(4, packed)) == b"".join(pieces)
    for end in (len(packed) - 1, len(packed) // 2, 20):
        with pytest.raises(LogRefusal):
            decompress(4, packed[:end])


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(InvalidConfig, match="'brotli'") as refused:
        codec_number("brotli")
    assert refused.value.valid == CODECS
