"""`make audit`: known vulnerabilities of the locked parts, by pip-audit and npm audit.

Both ask advisory services over the network. A part that no service answered for is not called free of them: the exit
code is 0 only if every part was compared, 1 for vulnerabilities, 2 where parts could not be compared.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
LOCK: Final = "requirements/runtime.txt"
# PyPI's own answers, then those of OSV.
SERVICES: Final = ("pypi", "osv")
CLEAN: Final = 0
VULNERABLE: Final = 1
NOT_COMPARED: Final = 2


@dataclass(frozen=True, slots=True)
class Result:
    """`unknown` are parts that no service answered for; `why` is what was said instead of an answer."""

    compared: int
    vulnerable: tuple[str, ...] = ()
    unknown: int = 0
    why: str = ""

    @property
    def code(self) -> int:
        return VULNERABLE if self.vulnerable else NOT_COMPARED if self.unknown or self.why else CLEAN

    def lines(self, what: str) -> list[str]:
        said = [f"{what}: {self.compared} parts compared, {len(self.vulnerable)} with known vulnerabilities"]
        said += [f"  {found}" for found in self.vulnerable]
        if self.unknown or self.why:
            parts = f"{self.unknown} parts" if self.unknown else "the parts"
            said.append(f"  {parts} could not be compared: {self.why}")
        return said


def python_result(report: str, errors: str) -> Result:
    """Of what `pip-audit --format json` printed."""
    try:
        parts: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Result(0, why=_last_line(errors))
    skipped = [part["skip_reason"] for part in parts if "skip_reason" in part]
    found = tuple(
        f"{part['name']} {part['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'no version'}"
        for part in parts
        for flaw in part.get("vulns", ())
    )
    return Result(len(parts) - len(skipped), found, len(skipped), skipped[0] if skipped else "")


def npm_result(report: str, errors: str) -> Result:
    """Of what `npm audit --json` printed."""
    try:
        # What npm says before it, when it installs, is no part of the report.
        content: dict[str, Any] = json.loads(report[report.index("{") :])
        if "vulnerabilities" not in content:
            return Result(0, why=str(content.get("message") or content.get("error") or "no answer"))
        found = content["vulnerabilities"]
        return Result(
            content["metadata"]["dependencies"]["total"],
            tuple(f"{name} {flaw['range']}: {flaw['severity']}" for name, flaw in found.items()),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Result(0, why=_last_line(errors) or _last_line(report))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("npm error A complete")]
    return lines[-1][:300] if lines else "no answer"


def _run(command: list[str]) -> tuple[str, str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def _python(pip_audit: str) -> Result:
    """By the first service that answers for every part, else by the one that answered for most."""
    results: list[Result] = []
    for service in SERVICES:
        options = ["--require-hashes", "--disable-pip", "--format=json", f"--vulnerability-service={service}"]
        results.append(python_result(*_run([pip_audit, "-r", LOCK, *options])))
        if results[-1].code != NOT_COMPARED:
            break
    return max(results, key=lambda result: result.compared)


def main(pip_audit: str) -> int:
    results = {
        "Python": _python(pip_audit),
        "npm": npm_result(*_run([sys.executable, "hatch_build.py", "npm", "audit", "--omit=dev", "--json"])),
    }
    for what, result in results.items():
        print("\n".join(result.lines(what)))
    codes = {result.code for result in results.values()}
    if NOT_COMPARED in codes:
        print("make audit needs the advisory services of PyPI or OSV, and of npm: run it where these can be reached")
    return VULNERABLE if VULNERABLE in codes else max(codes)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
