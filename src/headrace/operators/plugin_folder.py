"""Operators from files of a folder: every `*.py` there may define some."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from headrace.errors import InvalidInput, did_you_mean
from headrace.operators.spec import Operator
from headrace.serial.sql_functions import SqlFunction

# Where the folder is.
FOLDER_VARIABLE = "HEADRACE_PLUGINS"
FILES_MAX = 1_000


def plugin_folder() -> str | None:
    return os.environ.get(FOLDER_VARIABLE)


def use_plugin_folder(folder: str | None) -> None:
    """Called in Spark's tasks: the folder of the driver that sent them, whatever was set when the worker started."""
    if folder is None:
        os.environ.pop(FOLDER_VARIABLE, None)
    else:
        os.environ[FOLDER_VARIABLE] = folder


def plugin_files() -> list[Path]:
    """The files of the folder, by name; none where no folder is set. Names that begin with `_` or `test_` are not."""
    folder = plugin_folder()
    if not folder or not Path(folder).is_dir():
        return []
    found = sorted(path for path in Path(folder).glob("*.py") if not path.name.startswith(("_", "test_")))
    return found[:FILES_MAX]


def folder_signature() -> tuple[tuple[str, int], ...]:
    """Changes whenever a file of the folder does."""
    return tuple((str(path), _changed_ns(path)) for path in plugin_files())


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # removed since the folder was listed
        return 0


def operators_in(path: Path) -> Iterator[type[Operator[object]]]:  # type: ignore[type-var]
    """The operator classes that a file defines. Raises whatever the file raises."""
    module = _imported(path)
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, Operator) and found.__module__ == module.__name__ and not inspect.isabstract(found):
            yield found


def functions_in(path: Path) -> Iterator[SqlFunction]:
    """The functions for SQL that a file defines. Raises whatever the file raises."""
    for _, found in inspect.getmembers(_imported(path), lambda member: isinstance(member, SqlFunction)):
        yield found


def load_member(file_name: str, name: str) -> Any:
    """What a file of the folder calls so. Raises InvalidInput that says what is missing or cannot be imported."""
    files = {path.name: path for path in plugin_files()}
    if file_name not in files:
        hint = did_you_mean(file_name, files) or f"put it into the folder that {FOLDER_VARIABLE} names"
        raise InvalidInput(f"the plugin folder has no file {file_name!r}", valid=tuple(files), hint=hint)
    try:
        module = _imported(files[file_name])
    except Exception as error:  # whatever the file raises, it is told with its name
        raise InvalidInput(f"{file_name} cannot be imported: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        raise InvalidInput(f"{file_name} has no {name!r}", hint=did_you_mean(name, vars(module)))
    return getattr(module, name)


def _imported(path: Path) -> ModuleType:
    name = f"headrace_plugin_{path.stem}_{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
