"""`headrace secret`: values that pipelines name as ${secret:NAME} and nothing shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.hidden import hidden_value, print_done
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import print_json, print_table
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
    set_secret(data_dir, name, hidden_value("Value", file))
    print_done({"secret": name, "set": True}, f"${{secret:{name}}} is set", as_json=as_json)


@app.command("remove")
def remove(name: Name, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """Remove a secret."""
    remove_secret(data_dir, name)
    print_done({"secret": name, "removed": True}, f"${{secret:{name}}} is removed", as_json=as_json)


@app.command("list")
def list_all(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """List the names of the secrets; values are never shown."""
    names = list_secrets(data_dir)
    if as_json:
        print_json({"secrets": names})
    else:
        print_table(("secret",), [(name,) for name in names], empty="no secrets")
