"""Python objects that a setting names as `module:name`."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from headrace.errors import InvalidInput
from headrace.operators.folder_modules import active_modules
from headrace.operators.plugin_folder import FOLDER_VARIABLE, folder_signature, plugin_folder
from headrace.operators.session_values import MAIN, kept_value, read_again

OBJECTS_KEPT = 64


def load_object(place: str) -> Any:
    """Raises InvalidInput that says what of `module:name` could not be found or imported."""
    module_name, separator, name = place.partition(":")
    if not separator or not module_name or not name:
        raise InvalidInput(f"{place!r} names no Python object", hint="write it like `package.module:name`")
    folder = plugin_folder()
    if folder is not None and (path := kept_value(folder, place)) is not None:
        return _unpickled(path)
    try:
        with active_modules(folder, folder_signature()):
            read_again(sys.modules.get(module_name))
            found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        hint = f"install it as a package, or put it into the folder that {FOLDER_VARIABLE} names"
        raise InvalidInput(f"the module {module_name!r} cannot be imported: {error}", hint=hint) from error
    except AttributeError as error:
        hint = "put it into a module of its own, in the plugin folder" if module_name == MAIN else ""
        raise InvalidInput(f"the module {module_name!r} has no {name!r}", hint=hint or None) from error
    except Exception as error:  # whatever the module raises, a SyntaxError above all
        raise InvalidInput(f"the module {module_name!r} cannot be imported: {type(error).__name__}: {error}") from error
    return found


@lru_cache(maxsize=OBJECTS_KEPT)
def _unpickled(path: Path) -> Any:
    """Our own driver wrote it, in the data directory; the path has the hash of its content in it."""
    import pickle  # noqa: PLC0415

    return pickle.loads(path.read_bytes())  # noqa: S301
