"""What a stateless operator does to one row, so that several branches can share one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowStep:
    """Either keeps a row when `condition` holds, or gives it new columns: (name, expression as written)."""

    condition: str | None = None
    columns: tuple[tuple[str, str], ...] | None = None
