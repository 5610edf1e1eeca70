"""Regular expressions of clients, by RE2 as in Kafka: none takes more than linear time."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.wire.codes import ErrorCode, Refusal


def matching(regex: str, names: Iterable[str]) -> frozenset[str]:
    """The names that match as a whole. Raises a Refusal for an expression that is none."""
    import pyarrow as pa  # noqa: PLC0415 - only those who ask with expressions load it
    import pyarrow.compute as pc  # noqa: PLC0415

    known = list(names)
    try:
        matched = pc.match_substring_regex(pa.array(known, pa.string()), f"^(?:{regex})$")
    except pa.ArrowInvalid as error:
        raise Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{regex!r}: {error}") from None
    return frozenset(name for name, fits in zip(known, matched.to_pylist(), strict=True) if fits)
