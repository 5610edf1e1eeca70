"""Where errors end: a sentence with its place and hint, or a JSON object; a traceback only when asked for."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import typer

from headrace.causes import known_cause
from headrace.errors import HeadraceError

USER_ERROR: Final = 2
OTHER_ERROR: Final = 1
DEBUG_VARIABLE: Final = "HEADRACE_DEBUG"


@dataclass(frozen=True, slots=True)
class Invocation:
    """What must be known even when the arguments cannot be parsed."""

    as_json: bool
    debug: bool

    @classmethod
    def of(cls, arguments: Sequence[str]) -> Invocation:
        own = arguments[: arguments.index("--")] if "--" in arguments else arguments
        return cls("--json" in own, "--debug" in own or bool(os.environ.get(DEBUG_VARIABLE)))


def report_errors(invocation: Invocation, run: Callable[[bool], object]) -> int:
    """Runs, and turns whatever is raised into output and an exit code: 2 for what the caller can mend, else 1.

    `run` is told whether the parser may print its own errors.
    """
    try:
        code = run(not invocation.as_json)
    except HeadraceError as error:
        return _report_known(invocation, error)
    except typer.TyperException as error:
        message = getattr(error, "message", str(error))
        return _report(invocation, {"code": "usage", "domain": "user", "message": message}, message, USER_ERROR)
    except typer.Abort:
        return OTHER_ERROR
    except Exception as error:
        if (known := known_cause(error)) is not None:
            return _report_known(invocation, known)
        if invocation.debug:
            traceback.print_exc()
        message = f"a defect of Headrace: {type(error).__name__}: {error}"
        fields = {"code": "internal", "domain": "internal", "message": message}
        return _report(invocation, fields, f"{message}\nhint: `headrace --debug …` shows where", OTHER_ERROR)
    return code if isinstance(code, int) else 0


def _report_known(invocation: Invocation, error: HeadraceError) -> int:
    return _report(invocation, error.to_dict(), str(error), USER_ERROR if error.domain == "user" else OTHER_ERROR)


def _report(invocation: Invocation, fields: Mapping[str, object], text: str, code: int) -> int:
    if invocation.debug and sys.exc_info()[0] is not None:
        traceback.print_exc()
    if invocation.as_json:
        print(json.dumps({"error": fields}))
    else:
        _print_error(text)
    return code


def _print_error(text: str) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    first, _, rest = text.partition("\n")
    console = Console(stderr=True, highlight=False)
    console.print(Text("error: ", style="bold red") + Text(first), soft_wrap=True)
    for line in rest.splitlines():
        style = "cyan" if line.startswith("hint:") else "red" if set(line.strip()) == {"^"} else ""
        console.print(Text(line, style=style), soft_wrap=True)
