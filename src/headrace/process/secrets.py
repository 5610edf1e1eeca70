"""`${secret:NAME}`: a value that a pipeline uses and nothing keeps.

Documents, plans, commit records, notations and logs hold the reference. Its value is looked up where it is used: in the
environment variable `HEADRACE_SECRET_NAME`, else in the file `secrets/NAME` of the data directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from headrace.errors import InvalidInput, NotFound
from headrace.process.files import write_atomically
from headrace.process.private import PRIVATE_DIRECTORY

REFERENCE: Final = re.compile(r"\$\{secret:([A-Za-z_]\w*)\}", re.ASCII)
VALUE_PREFIX: Final = "HEADRACE_SECRET_"
# Where the files are; set for a server and for the tasks that it starts.
FOLDER_VARIABLE: Final = "HEADRACE_SECRETS"
FOLDER: Final = "secrets"
SECRET_BYTES_MAX: Final = 64 * 1024

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# A password in the address of a server, and what is called a key in its query.
_PLAIN: Final = re.compile(
    r"://[^\s/@:]*:(?P<user>[^\s/@]+)@|[?&](?:api_?key|token|access_token|password|secret)=(?P<query>[^\s&#]+)", re.I
)


def names_in(text: str) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(REFERENCE.findall(text)))


def resolve(text: str, quote: Callable[[str], str] = str) -> str:
    """The text with the values of its references, each passed through `quote`. Raises NotFound, InvalidInput."""
    return REFERENCE.sub(lambda match: quote(secret(match[1])), text)


def hide(shown: str, text: str, quote: Callable[[str], str] = str) -> str:
    """A message in which no value of the references of `text` can be read."""
    for name in names_in(text):
        for value in {secret(name), quote(secret(name))} - {""}:
            shown = shown.replace(value, f"${{secret:{name}}}")
    return shown


def secret(name: str) -> str:
    """Raises NotFound where there is none, InvalidInput for a file that others may read or that is no text."""
    value = os.environ.get(VALUE_PREFIX + name)
    if value is not None:
        return value
    folder = os.environ.get(FOLDER_VARIABLE)
    path = None if folder is None else Path(folder) / name
    if path is None or not path.is_file():
        hint = f"`headrace secret set {name}`, or set the environment variable {VALUE_PREFIX}{name} of the server"
        raise NotFound(f"the secret {name!r} is not set", hint=hint)
    return _read(path)


def require(texts: Iterable[str]) -> None:
    """Raises NotFound or InvalidInput for the first reference among the texts that has no value."""
    for text in texts:
        for name in names_in(text):
            secret(name)


def set_secret(data_directory: Path, name: str, value: str) -> None:
    """Raises InvalidInput, DiskFailure."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} is no name for a secret", valid=["letters, digits and _, not a digit first"])
    if not value or len(value.encode()) > SECRET_BYTES_MAX:
        raise InvalidInput(f"a secret has 1 to {SECRET_BYTES_MAX} bytes")
    folder = data_directory / FOLDER
    folder.mkdir(PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    write_atomically(folder / name, value)


def remove_secret(data_directory: Path, name: str) -> None:
    """Raises NotFound."""
    try:
        (data_directory / FOLDER / name).unlink()
    except FileNotFoundError:
        raise NotFound(f"the secret {name!r} is not set", valid=list_secrets(data_directory)) from None


def list_secrets(data_directory: Path) -> list[str]:
    """Their names; those of the environment are not among them."""
    folder = data_directory / FOLDER
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def holds_plain_secret(text: str) -> bool:
    """Whether a password or a key stands in it that is no reference."""
    return any(not REFERENCE.fullmatch(match["user"] or match["query"]) for match in _PLAIN.finditer(text))


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise InvalidInput(f"the secret in {path} can be read by other accounts", hint=f"chmod 600 {path}")
    try:
        return path.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the secret in {path} cannot be read: {error}") from None
