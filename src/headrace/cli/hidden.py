"""Passwords and secrets: read from a file or asked for, and never shown; and what was done with one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from headrace.cli.output import console, print_json
from headrace.errors import InvalidInput


def hidden_value(prompt: str, file: Path | None) -> str:
    """The file's text without the ends of its last line (- is standard input), or what is typed twice, unseen.

    Raises InvalidInput for a file that cannot be read.
    """
    if file is None:
        return str(typer.prompt(prompt, hide_input=True, confirmation_prompt=True))
    try:
        return (sys.stdin.read() if str(file) == "-" else file.read_text()).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the file {file} cannot be read: {error}") from None


def print_done(done: Mapping[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        console().print(text, markup=False)
