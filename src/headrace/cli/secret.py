"""`headrace secret`: values that pipelines name as ${secret:NAME} and nothing shows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import console, print_json, print_table
from headrace.errors import InvalidInput
from headrace.process.secrets import list_secrets, remove_secret, set_secret

app = typer.Typer(help="Set, list and remove secrets that pipelines use.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As in ${secret:NAME}.")]


@app.command("set")
def set_value(
    name: Name,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file that holds the value; - for standard input.")
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Set a secret, asked for or from a file. Pipelines use it from their next start."""
    set_secret(data_dir, name, _value(file))
    if as_json:
        print_json({"secret": name, "set": True})
    else:
        console().print(f"${{secret:{name}}} is set", markup=False)


@app.command("remove")
def remove(name: Name, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """Remove a secret."""
    remove_secret(data_dir, name)
    if as_json:
        print_json({"secret": name, "removed": True})
    else:
        console().print(f"${{secret:{name}}} is removed", markup=False)


@app.command("list")
def list_all(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """List the names of the secrets; values are never shown."""
    names = list_secrets(data_dir)
    if as_json:
        print_json({"secrets": names})
    else:
        print_table(("secret",), [(name,) for name in names], empty="no secrets")


def _value(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Value", hide_input=True, confirmation_prompt=True))
    try:
        return (sys.stdin.read() if str(file) == "-" else file.read_text()).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the file {file} cannot be read: {error}") from None
