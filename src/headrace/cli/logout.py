"""`headrace logout`: ends the sessions of all browsers."""

from __future__ import annotations

from headrace.cli.connect import server_of
from headrace.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from headrace.cli.output import console, print_json


def command(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: Json = False) -> None:
    """Log all browsers out; the address that `headrace up` printed logs in again."""
    with server_of(data_dir) as server:
        server.logout()
    if as_json:
        print_json({"logged_out": True})
    else:
        console().print("all browsers are logged out")
