"""Prints the software bill of materials of an installation, as CycloneDX JSON, from the lock files alone.

The same lock files give the same text: `hatch_build.py` puts it into every wheel.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
SPEC_VERSION: Final = "1.5"
_LOCKED: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(root: Path = ROOT) -> dict[str, Any]:
    """The Python packages that are installed along, and the npm packages whose code is in the editor."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "headrace",
                "version": _version(root),
                "purl": f"pkg:pypi/headrace@{_version(root)}",
            }
        },
        "components": [*_python_parts(root), *_editor_parts(root)],
    }


def _version(root: Path) -> str:
    found = re.search(r'__version__ = "([^"]+)"', (root / "src" / "headrace" / "__init__.py").read_text())
    if found is None:
        raise SystemExit("src/headrace/__init__.py has no __version__")
    return found[1]


def _python_parts(root: Path) -> list[dict[str, Any]]:
    """Hashes are those of every file that the lock allows, one for each platform."""
    lock = (root / "requirements" / "runtime.txt").read_text()
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "hashes": [{"alg": "SHA-256", "content": content} for content in _HASH.findall(rest)],
        }
        for name, version, rest in _LOCKED.findall(lock)
    ]


def _editor_parts(root: Path) -> list[dict[str, Any]]:
    lock = json.loads((root / "ui" / "package-lock.json").read_text())
    found = {
        (path.rsplit("node_modules/", 1)[1], fields["version"])
        for path, fields in lock["packages"].items()
        if path and not fields.get("dev")
    }
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:npm/{name.replace('@', '%40')}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:npm/{name.replace('@', '%40')}@{version}",
        }
        for name, version in sorted(found)
    ]


if __name__ == "__main__":
    print(json.dumps(bill(), indent=1))
