"""The five ways in which Kafka clients compress a batch's records."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
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

GZIP_LEVEL, LZ4_LEVEL, ZSTD_LEVEL = -1, 9, 3
"""Kafka's defaults."""

ZSTD_BLOCKS_MAX = 1 << 20
"""Blocks of one frame; each takes a step, though it may hold nothing."""

_ZSTD_PIECE_BLOCKS = 8
"""Blocks of a frame without a stated size that are unpacked at once: 128 KiB each at most."""

_ZSTD_BLOCK_HEADER_BYTES = 3
_ZSTD_REPEATED_BYTE = 1

_LZ4_RATIO_MAX = 255
"""LZ4 cannot expand more than this."""

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


def compress(number: int, payload: Buffer, level: int | None = None) -> Buffer:
    """The payload as a client would have compressed it; unchanged for number 0. `level` means what it does in Kafka."""
    if level is None or number not in _LEVELLED:
        return _COMPRESSORS[number](payload)
    return _LEVELLED[number](payload, level)


def decompress(number: int, payload: Buffer) -> Buffer:
    """The records' bytes. Raises LogRefusal when the payload cannot be unpacked or unpacks to too much.

    The limit holds while it is unpacked: no more than DECOMPRESSED_BYTES_MAX is ever unpacked.
    """
    if number >= len(CODECS):
        raise LogRefusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression {number} is unknown")
    try:
        return _DECOMPRESSORS[number](payload)
    except _TooLarge:
        cause = f"{CODECS[number]} payload unpacks to more than {DECOMPRESSED_BYTES_MAX} bytes"
        raise LogRefusal(ErrorCode.MESSAGE_TOO_LARGE, cause, hint="send smaller batches") from None
    except _FAILURES as error:
        raise LogRefusal(ErrorCode.CORRUPT_MESSAGE, f"{CODECS[number]} payload cannot be unpacked: {error}") from error


class _TooLarge(Exception):
    """The limit is reached, or would be."""


def _check_size(size_bytes: int) -> None:
    if size_bytes > DECOMPRESSED_BYTES_MAX:
        raise _TooLarge


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
        blocks.append(_snappy_block(view[position : position + size], total_bytes))
        total_bytes += len(blocks[-1])
        position += size
    return b"".join(blocks)


def _snappy_block(block: Buffer, before_bytes: int = 0) -> bytes:
    """A block states its size, and never unpacks to more."""
    _check_size(before_bytes + cramjam.snappy.decompress_raw_len(block))
    return bytes(cramjam.snappy.decompress_raw(block))


def _lz4_compress(payload: Buffer) -> bytes:
    return bytes(lz4.frame.compress(payload))


def _lz4_decompress(payload: Buffer) -> bytes:
    _check_size(lz4.frame.get_frame_info(payload)["content_size"])
    if len(payload) * _LZ4_RATIO_MAX <= DECOMPRESSED_BYTES_MAX:
        return bytes(lz4.frame.decompress(payload))
    # Three times slower, and bounded: the stated size may be false or missing.
    stream = lz4.frame.LZ4FrameDecompressor()
    unpacked = bytes(stream.decompress(payload, DECOMPRESSED_BYTES_MAX + 1))
    _check_size(len(unpacked))
    if not stream.eof:
        raise ValueError("the stream ends early")
    return unpacked


def _zstd_compress(payload: Buffer) -> bytes:
    return zstandard.ZstdCompressor().compress(payload)


def _zstd_decompress(payload: Buffer) -> Buffer:
    stated_bytes = zstandard.frame_content_size(payload)
    _check_size(stated_bytes)
    if stated_bytes >= 0:
        return zstandard.ZstdDecompressor().decompress(payload)
    stream = zstandard.ZstdDecompressor().decompressobj()
    unpacked: list[bytes] = []
    total_bytes = 0
    for piece in _zstd_pieces(memoryview(payload)):
        unpacked.append(stream.decompress(piece))
        total_bytes += len(unpacked[-1])
        _check_size(total_bytes)
    if not stream.eof:
        raise ValueError("the stream ends early")
    return unpacked[0] if len(unpacked) == 1 else b"".join(unpacked)


def _zstd_pieces(frame: memoryview) -> Iterator[memoryview]:
    """The frame cut between blocks. A few bytes can stand for megabytes, but one block for 128 KiB only."""
    start, position, is_last = 0, zstandard.frame_header_size(frame), False
    for count in range(1, ZSTD_BLOCKS_MAX + 1):
        header = int.from_bytes(frame[position : position + _ZSTD_BLOCK_HEADER_BYTES], "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        position += _ZSTD_BLOCK_HEADER_BYTES + (1 if kind == _ZSTD_REPEATED_BYTE else size)
        if is_last or position >= len(frame):
            break
        if count % _ZSTD_PIECE_BLOCKS == 0:
            yield frame[start:position]
            start = position
    else:
        raise _TooLarge
    yield frame[start:]


def _gzip_at(payload: Buffer, level: int) -> bytes:
    return gzip.compress(payload, 6 if level == GZIP_LEVEL else level)


def _lz4_at(payload: Buffer, level: int) -> bytes:
    # Kafka's default is the fast mode of LZ4; other levels are those of its high compression.
    return bytes(lz4.frame.compress(payload, compression_level=0 if level == LZ4_LEVEL else level))


def _zstd_at(payload: Buffer, level: int) -> bytes:
    return zstandard.ZstdCompressor(level=level).compress(payload)


_LEVELLED: dict[int, Callable[[Buffer, int], Buffer]] = {1: _gzip_at, 3: _lz4_at, 4: _zstd_at}
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
