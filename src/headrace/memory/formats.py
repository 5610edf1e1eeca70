"""What the bytes of a buffer are: a text that travels with them, and the typed view that Python gets.

bytes · array/float32 480x640 · image/rgb24 1920x1080 · audio/f32 48000 2 · arrow
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from headrace.errors import CorruptData, InvalidInput, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")

# Layout → values of a pixel and their type.
LAYOUTS: Final = {"rgb24": (3, "u1"), "bgr24": (3, "u1"), "rgba32": (4, "u1"), "gray8": (1, "u1"), "gray16": (1, "<u2")}
SAMPLES: Final = {"f32": "<f4", "s16": "<i2", "s32": "<i4"}
NAMES: Final = ("bytes", "array", "image", "audio", "arrow")
DIMENSIONS_MAX: Final = 8


class Format(ABC, Generic[T]):
    """A format and the type of its view."""

    @property
    def nbytes(self) -> int | None:
        """What every buffer of this format has; None where they differ."""
        return None

    @abstractmethod
    def __str__(self) -> str:
        """The text that `parse_format` reads."""

    @abstractmethod
    def view(self, memory: memoryview) -> T:
        """The bytes as this type, without a copy; it can be written to if the memory can."""

    def check(self, nbytes: int) -> None:
        """Raises InvalidInput if a buffer of this length cannot be of this format."""
        if self.nbytes is not None and nbytes != self.nbytes:
            raise InvalidInput(f"format {str(self)!r} is {self.nbytes:,} bytes, the buffer has {nbytes:,}")

    def check_content(self, memory: memoryview) -> None:
        """Called once before the first view for reading. Raises CorruptData. Most formats allow every content."""


@dataclass(frozen=True)
class Bytes(Format[memoryview]):
    def __str__(self) -> str:
        return "bytes"

    def view(self, memory: memoryview) -> memoryview:
        return memory


BYTES: Final = Bytes()


@dataclass(frozen=True)
class Array(Format["NDArray[Any]"]):
    """Numbers in the order of C. `dtype` is a name that numpy knows."""

    dtype: str
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        import numpy as np  # noqa: PLC0415 - takes a while: only where arrays are

        _require_sizes(self, self.shape)
        try:
            kind = np.dtype(self.dtype)
        except TypeError:
            raise InvalidInput(f"numpy has no type {self.dtype!r}") from None
        if kind.kind not in "biufc":
            raise InvalidInput(f"an array of {self.dtype!r} cannot be shared: only of plain numbers")

    @property
    def nbytes(self) -> int:
        import numpy as np  # noqa: PLC0415

        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"array/{self.dtype} {'x'.join(map(str, self.shape))}"

    def view(self, memory: memoryview) -> NDArray[Any]:
        return _numbers(memory, self.dtype).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Image:
    pixels: NDArray[Any]
    """Rows, columns, and values of a pixel."""
    layout: str


@dataclass(frozen=True)
class ImageFormat(Format[Image]):
    layout: str
    width: int
    height: int

    def __post_init__(self) -> None:
        _require_known("image layout", self.layout, LAYOUTS)
        _require_sizes(self, (self.width, self.height))

    @property
    def nbytes(self) -> int:
        values, kind = LAYOUTS[self.layout]
        return self.width * self.height * values * int(kind[-1])

    def __str__(self) -> str:
        return f"image/{self.layout} {self.width}x{self.height}"

    def view(self, memory: memoryview) -> Image:
        values, kind = LAYOUTS[self.layout]
        return Image(_numbers(memory, kind).reshape(self.height, self.width, values), self.layout)


@dataclass(frozen=True, slots=True)
class Audio:
    samples: NDArray[Any]
    """Moments and channels."""
    rate: int


@dataclass(frozen=True)
class AudioFormat(Format[Audio]):
    """A block of samples, as many as its bytes are."""

    sample: str
    rate: int
    channels: int = 1

    def __post_init__(self) -> None:
        _require_known("audio sample", self.sample, SAMPLES)
        _require_sizes(self, (self.rate, self.channels))

    def __str__(self) -> str:
        return f"audio/{self.sample} {self.rate}" + (f" {self.channels}" if self.channels > 1 else "")

    def check(self, nbytes: int) -> None:
        moment_bytes = int(SAMPLES[self.sample][-1]) * self.channels
        if nbytes % moment_bytes:
            raise InvalidInput(
                f"format {str(self)!r} has {moment_bytes} bytes a moment; {nbytes:,} are no whole number"
            )

    def view(self, memory: memoryview) -> Audio:
        return Audio(_numbers(memory, SAMPLES[self.sample]).reshape(-1, self.channels), self.rate)


@dataclass(frozen=True)
class ArrowFormat(Format["pa.RecordBatch"]):
    """One Arrow IPC stream with one batch, which may be followed by bytes that mean nothing."""

    def __str__(self) -> str:
        return "arrow"

    def view(self, memory: memoryview) -> pa.RecordBatch:
        import pyarrow as pa  # noqa: PLC0415

        if not memory.readonly:
            raise InvalidInput("an Arrow batch cannot be written in place", hint="write its bytes: as_format(BYTES)")
        with pa.ipc.open_stream(pa.py_buffer(memory)) as stream:
            return stream.read_next_batch()

    def check_content(self, memory: memoryview) -> None:
        import pyarrow as pa  # noqa: PLC0415

        try:
            self.view(memory).validate(full=True)
        except (pa.ArrowException, OSError, StopIteration, ValueError) as error:
            raise CorruptData(f"the buffer holds no sound Arrow batch: {error or 'it has none'}") from error


ARROW: Final = ArrowFormat()


def parse_format(text: str) -> Format[Any]:
    """The format that a text names. Raises InvalidInput."""
    name, _, rest = text.partition("/")
    words = rest.split()
    try:
        match name.strip(), words:
            case "bytes", []:
                return BYTES
            case "arrow", []:
                return ARROW
            case "array", [dtype, shape]:
                return Array(dtype, tuple(map(int, shape.split("x"))))
            case "image", [layout, size]:
                width, height = map(int, size.split("x"))
                return ImageFormat(layout, width, height)
            case "audio", [sample, rate, *channels] if len(channels) < 2:
                return AudioFormat(sample, int(rate), *map(int, channels))
    except ValueError:
        pass
    raise InvalidInput(
        f"{text!r} is no format", hint=did_you_mean(name, NAMES),
        valid=("bytes", "array/float32 480x640", "image/rgb24 1920x1080", "audio/f32 48000 2", "arrow"),
    )  # fmt: skip


def _numbers(memory: memoryview, dtype: str) -> np.ndarray[Any, Any]:
    import numpy as np  # noqa: PLC0415

    return np.frombuffer(memory, dtype)


def _require_known(kind: str, name: str, known: dict[str, Any]) -> None:
    if name not in known:
        raise InvalidInput(f"no {kind} {name!r}", valid=known, hint=did_you_mean(name, known))


def _require_sizes(format_: Format[Any], sizes: tuple[int, ...]) -> None:
    if not 0 < len(sizes) <= DIMENSIONS_MAX or any(size < 1 for size in sizes):
        raise InvalidInput(f"format {str(format_)!r} needs sizes of 1 and more, at most {DIMENSIONS_MAX} of them")
