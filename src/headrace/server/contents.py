"""Keys, values and headers of messages as something that can be shown: JSON, text, or base64 of anything else."""

from __future__ import annotations

import base64
import json
from typing import Any, Final, Literal

from headrace.errors import InvalidInput
from headrace.server.models.topics import Content, HeaderView

Format = Literal["auto", "json", "text", "base64"]

# More than this of one value is not sent to a browser.
SHOWN_BYTES_MAX: Final = 256 * 1024
# What is nested deeper, or counts further, is shown as the text that it is.
DEPTH_MAX: Final = 60
INTEGER_DIGITS_MAX: Final = 15
NOTHING: Final = Content(encoding="null", value=None, size=0)


def shown(data: bytes | None, wanted: Format) -> tuple[Content, str | None]:
    """The content, and why it is not in the wanted format, if it is not."""
    if data is None:
        return NOTHING, None
    if len(data) > SHOWN_BYTES_MAX:
        content = _text_or_bytes(data[:SHOWN_BYTES_MAX], len(data))
        return content, f"{len(data)} bytes; the first {SHOWN_BYTES_MAX} are shown"
    if wanted in ("auto", "json"):
        try:
            return Content(encoding="json", value=_json(data), size=len(data)), None
        except (ValueError, RecursionError) as error:
            return _text_or_bytes(data, len(data)), None if wanted == "auto" else f"no JSON: {error}"
    if wanted == "text":
        return Content(encoding="text", value=data.decode("utf-8", "replace"), size=len(data)), None
    return _base64(data, len(data)), None


def shown_headers(headers: list[tuple[str, bytes | None]]) -> list[HeaderView]:
    return [HeaderView(name=name, content=shown(value, "auto")[0]) for name, value in headers]


def encoded(value: Any, encoding: Literal["text", "json", "base64"], what: str) -> bytes | None:
    """Bytes to send. Raises InvalidInput for a value that is not of its encoding."""
    if value is None:
        return None
    if encoding == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if not isinstance(value, str):
        raise InvalidInput(f"the {what} is no text", hint=f"give {what}_encoding json, or a text")
    if encoding == "text":
        return value.encode()
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise InvalidInput(f"the {what} is no base64: {error}") from error


def _json(data: bytes) -> Any:
    """Raises ValueError for what is no JSON, and for JSON that a browser would show as something else."""
    value = json.loads(data, parse_int=_exact)
    # NaN, infinite numbers and halves of characters cannot be written again.
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    if _depth_exceeds(value, DEPTH_MAX):
        raise ValueError(f"it is nested deeper than {DEPTH_MAX}")
    return value


def _exact(text: str) -> int:
    if len(text.lstrip("-")) > INTEGER_DIGITS_MAX:
        raise ValueError(f"the number {text[:40]} has more digits than a browser keeps")
    return int(text)


def _depth_exceeds(value: Any, depth_max: int) -> bool:
    level = [value]
    for _ in range(depth_max):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _text_or_bytes(data: bytes, size: int) -> Content:
    try:
        return Content(encoding="text", value=data.decode(), size=size)
    except UnicodeDecodeError:
        return _base64(data, size)


def _base64(data: bytes, size: int) -> Content:
    return Content(encoding="base64", value=base64.b64encode(data).decode(), size=size)
