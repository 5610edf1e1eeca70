"""Options of the commands that start a pipeline, and what is printed of a start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from headrace.cli.output import console
from headrace.errors import InvalidInput, NeedsConfirmation

BEGINS: Final = ("latest", "last-commit", "earliest")

Begin = Annotated[
    str | None,
    typer.Option("--begin", help="Where queries begin that cannot go on exactly: latest, last-commit or earliest."),
]
Reset = Annotated[bool, typer.Option("--reset", help="Forget state and offsets: begin at the sources' start.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With --reset: do not ask.")]
Truncate = Annotated[
    bool, typer.Option("--truncate", help="With --reset: delete the records of the output topics first.")
]


def choice(begin: str | None, *, reset: bool, yes: bool, truncate: bool) -> dict[str, Any]:
    """As the API takes it. Raises InvalidInput."""
    if begin is not None and begin not in BEGINS:
        raise InvalidInput(f"--begin {begin!r} is no place to begin", valid=BEGINS)
    if (truncate or yes) and not reset:
        raise InvalidInput(f"{'--truncate' if truncate else '--yes'} is for --reset")
    return {"begin": begin, "reset": reset, "confirmed": yes, "truncate": truncate}


def confirmed(
    start: Callable[[dict[str, Any]], dict[str, Any]], wished: dict[str, Any], *, as_json: bool
) -> dict[str, Any]:
    """What the start answers; where it needs a confirmation, somebody at a terminal is asked."""
    try:
        return start(wished)
    except NeedsConfirmation as asked:
        if as_json or not sys.stdin.isatty():
            raise
        console().print(asked.message, markup=False)
        typer.confirm("Reset it?", abort=True)
        return start({**wished, "confirmed": True})


def print_started(job: dict[str, Any]) -> None:
    """The version, its state, and where each query begins."""
    out = console()
    out.print(f"{job['pipeline']} version {job['version']} is {job['state']}", markup=False)
    for query in job["began"]:
        out.print(f"  {query['text']}", markup=False, soft_wrap=True)
