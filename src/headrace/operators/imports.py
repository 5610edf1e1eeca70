"""Python objects that a setting names as `module:name`."""

from __future__ import annotations

import importlib
import os
from typing import Any

from headrace.errors import InvalidInput
from headrace.operators.plugin_folder import FOLDER_VARIABLE, plugin_folder
from headrace.process.python import look_in


def load_object(place: str) -> Any:
    """Raises InvalidInput that says what of `module:name` could not be found or imported."""
    module_name, separator, name = place.partition(":")
    if not separator or not module_name or not name:
        raise InvalidInput(f"{place!r} names no Python object", hint="write it like `package.module:name`")
    if folder := plugin_folder():
        look_in(os.path.abspath(folder))
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        hint = f"install it as a package, or put it into the folder that {FOLDER_VARIABLE} names"
        raise InvalidInput(f"the module {module_name!r} cannot be imported: {error}", hint=hint) from error
    except AttributeError as error:
        raise InvalidInput(f"the module {module_name!r} has no {name!r}") from error
    return found
