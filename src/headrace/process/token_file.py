"""`token`: what a browser must know to use the server, the same after every restart. For the owner's eyes only."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Final

from headrace.errors import DiskFailure
from headrace.process.files import PRIVATE, write_atomically

TOKEN_FILE: Final = "token"  # noqa: S105 - the name of the file, not a token
TOKEN_BYTES: Final = 24
_TOKEN: Final = re.compile(r"[\w-]{32,128}")


def keep_token(data_directory: Path, *, renew: bool = False) -> str:
    """The token of a data directory, made anew where there is none, or where `renew` locks out who knew the old one.

    Raises DiskFailure.
    """
    path = data_directory / TOKEN_FILE
    known = None if renew else _read(path)
    if known is not None:
        return known
    token = secrets.token_urlsafe(TOKEN_BYTES)
    write_atomically(path, f"{token}\n", mode=PRIVATE)
    return token


def _read(path: Path) -> str | None:
    """None for a file that is not there, holds no token, or could have been read by others."""
    try:
        is_private = path.stat().st_mode & 0o077 == 0
        text = path.read_text(errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskFailure(f"{path} cannot be read: {error.strerror}") from error
    return text if is_private and _TOKEN.fullmatch(text) else None
