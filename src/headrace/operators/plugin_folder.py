"""Operators from files of a folder: every `*.py` there may define some.

The folder is the one that the user names, or a kept copy of it (`operators/kept_code.py`): what a pipeline was started
with. `folder_modules.py` keeps the modules of several such folders apart in one process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from headrace.errors import InvalidInput, did_you_mean
from headrace.operators.folder_modules import Signature, active_modules, code_files, is_kept, stay_in
from headrace.operators.keyed_class import KeyedOperator
from headrace.operators.spec import Operator
from headrace.serial.sql_functions import SqlFunction

# Where the folder is.
FOLDER_VARIABLE = "HEADRACE_PLUGINS"
FILES_MAX = 1_000

# The folder of this thread's work, where it is another than that of the process.
_own: Final[ContextVar[str | None]] = ContextVar("headrace_plugins", default=None)


def plugin_folder() -> str | None:
    return _own.get() or os.environ.get(FOLDER_VARIABLE)


@contextmanager
def in_folder(folder: str | None) -> Iterator[None]:
    """Inside, this thread has another plugin folder than the process; with None it has the same."""
    token = _own.set(folder)
    try:
        yield
    finally:
        _own.reset(token)


def use_plugin_folder(folder: str | None) -> None:
    """Called in Spark's tasks: the folder of the driver that sent them, whatever was set when the worker started."""
    if folder is None:
        os.environ.pop(FOLDER_VARIABLE, None)
    else:
        os.environ[FOLDER_VARIABLE] = folder
    stay_in(folder)


def plugin_files() -> list[Path]:
    """The files of the folder, by name; none where no folder is set. Names that begin with `_` or `test_` are not."""
    folder = plugin_folder()
    if not folder or not Path(folder).is_dir():
        return []
    found = sorted(path for path in Path(folder).glob("*.py") if not path.name.startswith(("_", "test_")))
    return found[:FILES_MAX]


def folder_signature() -> Signature:
    """Changes whenever a file of the folder does. A kept copy stays as it is."""
    folder = plugin_folder()
    if not folder:
        return ()
    return ((folder, 0), *(() if is_kept(folder) else ((str(path), _changed_ns(path)) for path in code_files(folder))))


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # removed since the folder was listed
        return 0


def operators_in(path: Path) -> Iterator[type[Operator[Any]] | type[KeyedOperator[Any, Any, Any, Any]]]:
    """The operator classes that a file defines. Raises whatever the file raises."""
    module = _imported(path)
    for _, found in inspect.getmembers(module, inspect.isclass):
        if (
            issubclass(found, Operator | KeyedOperator)
            and found.__module__ == module.__name__
            and not inspect.isabstract(found)
        ):
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
    """The module has a name of its own for each state of the folder: the files beside it count as well."""
    state = f"{folder_signature()} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    name = f"headrace_plugin_{path.stem}_{hashlib.sha256(state.encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    with active_modules(plugin_folder(), folder_signature()):
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module
