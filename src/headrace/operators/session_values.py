"""Functions of a script or a notebook, kept by value: its cells are no module that a worker could import.

A place (`__main__:alert`, `shop:taxed`) whose module is no installed package is pickled with all that it uses from such
modules, as the session has it at the start of a pipeline.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from headrace.errors import HeadraceError, InvalidInput

VALUES_FOLDER: Final = ".values"
MAIN: Final = "__main__"
_PLACE: Final = re.compile(r"(?:^|`)([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)(?:$|`)")
# What modules were made of when they were first used here, by name.
_seen: dict[str, str] = {}


def kept_value(folder: str, place: str) -> Path | None:
    """The pickle of a place in a kept folder, if there is one."""
    path = Path(folder, VALUES_FOLDER, _file_name(place))
    return path if path.exists() else None


def values_of(texts: Iterable[str]) -> dict[str, bytes]:
    """File name → pickle, for all places in texts that only this process can resolve.

    Raises InvalidInput for one that cannot be sent to workers.
    """
    places = {found[0].strip("`"): found[1] for text in texts for found in _PLACE.finditer(text)}
    return {_file_name(place): _pickled(place) for place, module in sorted(places.items()) if _is_of_session(module)}


def read_again(module: ModuleType | None) -> None:
    """A module of the session whose file was edited since it was first used here is loaded again from it.

    Raises whatever the file raises.
    """
    if module is None or module.__name__ == MAIN or not _is_own_file(getattr(module, "__file__", None)):
        return
    content = hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()
    if _seen.setdefault(module.__name__, content) != content:
        importlib.reload(module)
        _seen[module.__name__] = content


def _file_name(place: str) -> str:
    return f"{hashlib.sha256(place.encode()).hexdigest()[:24]}.pickle"


def _is_of_session(module: str) -> bool:
    if module == MAIN:
        return True
    try:
        # Only what the session has imported: a place may be in the plugin folder, or no place at all.
        return _is_own_file(getattr(sys.modules.get(module) or importlib.import_module(module), "__file__", None))
    except Exception:  # whatever it raises, validation says so
        return False


def _is_own_file(file: str | None) -> bool:
    """Whether a module is neither installed nor Python's nor ours."""
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return False
    return not any(Path(file).is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[Path, ...]:
    named = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    others = (entry for entry in sys.path if "site-packages" in entry or "dist-packages" in entry)
    return (Path(__file__).parents[1], *(Path(folder).resolve() for folder in (*named, *others) if folder))


def _pickled(place: str) -> bytes:
    from pyspark import cloudpickle  # noqa: PLC0415  (pyspark costs half a second: only where it is used)

    from headrace.operators.imports import load_object  # noqa: PLC0415  (it asks for kept values itself)

    pickler: Any = cloudpickle
    try:
        found = load_object(place)
    except HeadraceError:
        return b""  # validation says what is wrong with it
    try:
        with _by_value(pickler):
            return bytes(pickler.dumps(found))
    except Exception as error:
        hint = "what it uses must be possible to pickle: open files, locks and connections inside the function"
        raise InvalidInput(f"{place} cannot be sent to workers: {type(error).__name__}: {error}", hint=hint) from error


@contextmanager
def _by_value(cloudpickle: Any) -> Iterator[None]:
    """Inside, functions and classes of the session's own modules are pickled with their code."""
    own = [
        module
        for name, module in list(sys.modules.items())
        if name != MAIN and isinstance(module, ModuleType) and _is_own_file(getattr(module, "__file__", None))
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
