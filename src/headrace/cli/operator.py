"""`headrace operator`: operators of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import Json
from headrace.cli.output import console, print_json
from headrace.errors import Conflict

app = typer.Typer(help="Write operators of your own.", no_args_is_help=True)


@app.callback()
def _commands() -> None:
    """Each is a command, however many there are."""


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What pipelines call it, such as `my-window`.")],
    folder: Annotated[Path, typer.Option("--into", help="The folder for its file and its test.")] = Path(),
    keyed: Annotated[
        bool, typer.Option("--keyed", help="A class with state and timers by key, instead of one for whole batches.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write an operator to begin with, and its test. Set HEADRACE_PLUGINS to the folder to use it in pipelines."""
    from headrace.operators.template import operator_template  # noqa: PLC0415
    from headrace.serial import API_VERSION  # noqa: PLC0415

    made = operator_template(name, API_VERSION, keyed=keyed)
    files = {folder / file: content for file, content in made.items()}
    for path in files:
        if path.exists():
            raise Conflict(f"{path} exists already", hint="choose another name, or another folder with --into")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        path.write_text(content)
    if as_json:
        print_json({"operator": name, "files": [str(path) for path in files]})
    else:
        written = " and ".join(str(path) for path in files)
        console().print(f"wrote {written}; try them with `pytest {folder}`", markup=False, soft_wrap=True)
