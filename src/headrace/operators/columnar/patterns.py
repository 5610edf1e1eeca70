"""Patterns as Java reads them, in the words of what computes them here; None where the two may differ."""

from __future__ import annotations

import re
from typing import Final

PATTERN_CHARACTERS_MAX: Final = 200
_LITERALS: Final = r"[A-Za-z0-9 !\"#%&',/:;<=>@_`~-]"
# What a dot does not stand for.
_LINE_ENDS: Final = r"\n\r\x{85}\x{2028}\x{2029}"
# In a class `&&` would be an intersection to Java, and a bracket a class within.
_REGEX_PART: Final = re.compile(
    rf"(?P<single>{_LITERALS}|\.|\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9 !\"#%'*+,./:;<=>?@_`~()|$]|&(?!&))+\])"
    r"(?P<repeated>[*+?]\??)?(?![*+?])"
    r"|(?P<open>\((?:\?:)?)|(?P<close>\))(?P<optional>\?\??)?(?![*+?])|(?P<plain>\||\^(?![*+?]))"
)
_RANGE: Final = re.compile(r"([A-Za-z0-9])-([A-Za-z0-9])")
_TIME_PART: Final = re.compile(r"yyyy|MM|dd|HH|mm|ss|[ :/.,_-]+")
# Characters that a regular expression takes for themselves.
_PLAIN_DELIMITER: Final = re.compile(rf"{_LITERALS}")


def regex_of(pattern: str, group: int) -> str | None:
    """The same for RE2, with a group `g` for that one; only what both match in the same way, and capture too.

    No group is repeated, for then they may capture different rounds; no `$`, which to Java also stands before a last
    line break.
    """
    made, place, count, depth = "(?P<g>" if group == 0 else "", 0, 0, 0
    if not 0 < len(pattern) <= PATTERN_CHARACTERS_MAX:
        return None
    while place < len(pattern):
        part = _REGEX_PART.match(pattern, place)
        if part is None or any(first > last for first, last in _RANGE.findall(part["single"] or "")):
            return None
        place = part.end()
        count += part["open"] == "("
        depth += (part["open"] is not None) - (part["close"] is not None)
        if depth < 0:
            return None
        made += _for_re2(part, is_wanted=part["open"] == "(" and count == group)
    if depth or not 0 <= group <= count:
        return None
    return made + ")" if group == 0 else made


def _for_re2(part: re.Match[str], *, is_wanted: bool) -> str:
    if part["open"]:
        return "(?P<g>" if is_wanted else "(?:"
    if part["single"] == ".":
        return f"[^{_LINE_ENDS}]{part['repeated'] or ''}"
    return part[0]


def is_plain_delimiter(text: str) -> bool:
    return _PLAIN_DELIMITER.fullmatch(text) is not None


def time_parts(pattern: str) -> list[str] | None:
    """Fields of a time, and what stands between them."""
    parts: list[str] = _TIME_PART.findall(pattern)
    return parts if parts and "".join(parts) == pattern else None
