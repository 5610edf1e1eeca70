"""`headrace user`: who may authenticate to the broker, set while it does not run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from headrace.cli.hidden import hidden_value, print_done
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import print_json, print_table

PASSWORD_VARIABLE: Final = "HEADRACE_PASSWORD"  # noqa: S105 - the name of the variable, not a password

app = typer.Typer(help="Set, list and remove users of the broker.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="USER", help="The user's name.")]


@app.command("set")
def set_user(
    user: Name,
    *,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="A file with the password in its first line.")
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: Json = False,
) -> None:
    """Give a user a password, from a file, from HEADRACE_PASSWORD, or asked for. Never from the command line."""
    from headrace.wire.users import set_password  # noqa: PLC0415

    set_password(_log_directory(data_dir), user, _password(password_file))
    then = f"user {user} can authenticate once the broker is started with sasl_mechanisms"
    until = "Until then any client of this machine gets in without: see docs/security.md"
    print_done({"user": user, "set": True}, f"{then}\n{until}", as_json=as_json)


@app.command("remove")
def remove(user: Name, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """Remove a user."""
    from headrace.wire.users import remove_user  # noqa: PLC0415

    remove_user(_log_directory(data_dir), user)
    print_done({"user": user, "removed": True}, f"user {user} removed", as_json=as_json)


@app.command("list")
def list_all(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """List the users."""
    from headrace.wire.users import list_users  # noqa: PLC0415

    users = list_users(_log_directory(data_dir))
    if as_json:
        print_json({"users": [{"name": name, "mechanisms": list(own)} for name, own in users.items()]})
    else:
        print_table(("user", "mechanisms"), [(name, ", ".join(own)) for name, own in users.items()], empty="no users")


def _log_directory(data_dir: Path) -> Path:
    """Where `headrace up` keeps its broker's log."""
    return data_dir / "log"


def _password(path: Path | None) -> str:
    """In a file only the first line counts."""
    given = os.environ.get(PASSWORD_VARIABLE)
    if path is None and given is not None:
        return given
    return hidden_value("Password", path).partition("\n")[0]
