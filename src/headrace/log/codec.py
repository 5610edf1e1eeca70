"""The five ways in which Kafka clients compress a batch's records."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from typing import Literal

import cramjam
import lz4.frame
import zstandard

from headrace.errors import InvalidConfig
from headrace.log.refusal import ErrorCode, LogRefusal
from headrace.log.storage import Buffer

Codec = Literal["none", "gzip", "snappy", "lz4", "zstd"]
CODECS: tuple[Codec, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
"""In the order of their numbers in a batch's attributes."""

DECOMPRESSED_BYTES_MAX = 256 << 20
"""A batch that unpacks to more is refused: a few kilobytes must not be able to fill the memory."""

_FEED_BYTES = 64 << 10
_GZIP_WINDOW = 31
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_BLOCK_SIZE = struct.Struct(">i")
_FAILURES = (
    OSError,
    ValueError,
    RuntimeError,
    struct.error,
    zlib.error,
    zstandard.ZstdError,
    cramjam.DecompressionError,
)


def codec_number(codec: str) -> int:
    """The number of a codec's name. Raises InvalidConfig for an unknown one."""
    if codec not in CODECS:
        raise InvalidConfig(f"unknown codec {codec!r}", valid=CODECS)
    return CODECS.index(codec)


def compress(number: int, payload: Buffer) -> Buffer:
    """The payload as a client would have compressed it; unchanged for number 0."""
    return _COMPRESSORS[number](payload)


def decompress(number: int, payload: Buffer) -> Buffer:
    """The records' bytes. Raises LogRefusal when the payload cannot be unpacked or unpacks to too much."""
    if number >= len(CODECS):
        raise LogRefusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression {number} is unknown")
    try:
        return _DECOMPRESSORS[number](payload)
    except _FAILURES as error:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, f"{CODECS[number]} payload cannot be unpacked: {error}") from error


def _check_size(size_bytes: int) -> None:
    if size_bytes > DECOMPRESSED_BYTES_MAX:
        raise ValueError(f"more than {DECOMPRESSED_BYTES_MAX} bytes")


def _unchanged(payload: Buffer) -> Buffer:
    return payload


def _gzip_decompress(payload: Buffer) -> bytes:
    stream = zlib.decompressobj(_GZIP_WINDOW)
    unpacked = stream.decompress(payload, DECOMPRESSED_BYTES_MAX + 1)
    _check_size(len(unpacked))
    if not stream.eof:
        raise ValueError("the stream ends early")
    return unpacked


def _snappy_compress(payload: Buffer) -> bytes:
    return bytes(cramjam.snappy.compress_raw(payload))


def _snappy_decompress(payload: Buffer) -> bytes:
    # Java clients cut the payload into framed blocks, librdkafka sends one raw block.
    if bytes(payload[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return _snappy_block(payload)
    view, position, blocks, total_bytes = memoryview(payload), _XERIAL_HEADER_BYTES, [], 0
    while position < len(view):
        (size,) = _BLOCK_SIZE.unpack_from(view, position)
        position += _BLOCK_SIZE.size
        if not 0 < size <= len(view) - position:
            raise ValueError(f"a block of {size} bytes at {position}")
        blocks.append(_snappy_block(view[position : position + size]))
        total_bytes += len(blocks[-1])
        _check_size(total_bytes)
        position += size
    return b"".join(blocks)


def _snappy_block(block: Buffer) -> bytes:
    _check_size(cramjam.snappy.decompress_raw_len(block))
    return bytes(cramjam.snappy.decompress_raw(block))


def _lz4_compress(payload: Buffer) -> bytes:
    return bytes(lz4.frame.compress(payload))


def _lz4_decompress(payload: Buffer) -> bytes:
    # LZ4 cannot expand more than 255-fold, so only a false stated size can ask for too much memory.
    _check_size(lz4.frame.get_frame_info(payload)["content_size"])
    return bytes(lz4.frame.decompress(payload))


def _zstd_compress(payload: Buffer) -> bytes:
    return zstandard.ZstdCompressor().compress(payload)


def _zstd_decompress(payload: Buffer) -> bytes:
    stream = zstandard.ZstdDecompressor().decompressobj()
    pieces, total_bytes = [], 0
    for start in range(0, len(payload), _FEED_BYTES):
        pieces.append(stream.decompress(payload[start : start + _FEED_BYTES]))
        total_bytes += len(pieces[-1])
        _check_size(total_bytes)
    if not stream.eof:
        raise ValueError("the stream ends early")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


_COMPRESSORS: tuple[Callable[[Buffer], Buffer], ...] = (
    _unchanged,
    gzip.compress,
    _snappy_compress,
    _lz4_compress,
    _zstd_compress,
)
_DECOMPRESSORS: tuple[Callable[[Buffer], Buffer], ...] = (
    _unchanged,
    _gzip_decompress,
    _snappy_decompress,
    _lz4_decompress,
    _zstd_decompress,
)
