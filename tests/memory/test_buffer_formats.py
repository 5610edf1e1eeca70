"""Formats as text, and the views they give."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.errors import InvalidInput
from headrace.memory import Array, AudioFormat, Buffer, ImageFormat, Pool, parse_format

TEXTS = [
    "bytes",
    "arrow",
    "array/float32 480x640",
    "array/<u2 7",
    "image/rgb24 1920x1080",
    "image/gray16 8x4",
    "audio/f32 48000",
    "audio/s16 44100 2",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_format_is_its_text(text: str) -> None:
    format_ = parse_format(text)
    assert str(format_) == text
    assert parse_format(str(format_)) == format_


@pytest.mark.parametrize(
    "text",
    ["", "byte", "bytes 3", "image", "image/rgb24", "image/rgb24 3", "image/rgb24 3x4x5", "image/rgb25 3x4",
     "image/rgb24 0x4", "image/rgb24 3x-4", "array/float32 x", "array/nothing 3", "array/object 3", "array/U4 3",
     "array/float32 1x1x1x1x1x1x1x1x1", "audio/f32", "audio/f32 48000 0", "audio/f32 1 2 3", "audio/f99 48000"],
)  # fmt: skip
def test_what_is_no_format_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_format(text)


def test_an_image_is_rows_columns_and_values() -> None:
    buffer = Pool(4096).loan(format=ImageFormat("gray16", 8, 4))
    image = buffer.edit()
    assert (buffer.nbytes, image.pixels.shape, image.pixels.dtype) == (64, (4, 8, 1), np.dtype("<u2"))
    image.pixels[3, 7] = 65_535
    assert buffer.tobytes() == bytes(62) + b"\xff\xff"


def test_samples_are_moments_and_channels() -> None:
    stereo = AudioFormat("s16", 44_100, 2)
    buffer = Buffer.over(np.arange(6, dtype="<i2"), stereo)
    assert buffer.view().samples.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(InvalidInput, match="4 bytes a moment; 6"):
        Buffer.over(bytes(6), stereo)


def test_an_array_has_its_type_and_shape() -> None:
    buffer = Pool(4096).loan(format=Array("float32", (3, 5)))
    numbers = buffer.edit()
    numbers[:] = 1.5
    assert (numbers.shape, str(numbers.dtype), buffer.nbytes) == ((3, 5), "float32", 60)
    assert buffer.view().sum() == 22.5
