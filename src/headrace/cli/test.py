"""`headrace test`: runs test files, as batch and as stream, and shows what differs."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from headrace.cli.options import Json
from headrace.cli.output import console, print_json
from headrace.errors import InvalidInput, InvalidSyntax, NotFound

if TYPE_CHECKING:
    from headrace.cases import Case, CaseResult, CaseSession, Mode

Run: TypeAlias = "tuple[Path, CaseResult]"
ALL: Final = "all"
# Longer than a case should take: shown in another colour.
SLOW_S: Final = 1.0
NAMED_MAX: Final = 20
# What failed among more runs than these is named once more at the end.
IN_SIGHT: Final = 10


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE|FOLDER…", help="Test files, or folders of .sql files.")],
    *,
    only: Annotated[
        str | None, typer.Option("--only", "-k", help="Only cases with this text in their name, or in file:line.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", help="batch, stream, restart, or all three; default: the first two.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Where streams are cut: the same seed, the same cuts.")] = 0,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the results as JUnit XML to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Run SQL test files: rows in, rows expected. No broker is needed.

    Ends with 0 if all rows were as expected, with 1 if some were not, with 2 if a file cannot be read.
    """
    modes = _modes(mode)
    cases = _chosen([(file, case) for file in _files(paths) for case in _cases(file)], only)
    started_s = time.monotonic()
    results: list[Run] = []
    with _session() as session:
        for file, of_case in _run(session, cases, modes, seed):
            results += [(file, result) for result in of_case]
            if not as_json:
                _show(file, of_case)
    total = _Total(time.monotonic() - started_s, session.start_s, results)
    if junit is not None:
        _write_junit(junit, results)
    if as_json:
        print_json(total.as_dict())
    else:
        total.show()
    if total.failed:
        raise typer.Exit(1)


def _modes(mode: str | None) -> tuple[Mode, ...]:
    from headrace.cases import MODES, RESTART  # noqa: PLC0415

    known = (*MODES, RESTART)
    if mode not in (None, ALL, *known):
        raise InvalidInput(f"there is no mode {mode!r}", valid=(*known, ALL))
    return MODES if mode is None else tuple(one for one in known if mode in (ALL, one))


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise NotFound(f"there is no file {str(path)!r}")
        found += sorted(path.rglob("*.sql")) if path.is_dir() else [path]
    if not found:
        raise NotFound(f"there is no .sql file in {', '.join(map(str, paths))}")
    return found


def _cases(file: Path) -> Sequence[Case]:
    from headrace.cases import read_cases  # noqa: PLC0415

    try:
        return read_cases(file.read_text(), file.stem)
    except InvalidSyntax as error:
        raise InvalidSyntax(f"{file}: {error.message}", place=error.place, hint=error.hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _chosen(cases: list[tuple[Path, Case]], only: str | None) -> list[tuple[Path, Case]]:
    if only is None:
        return cases
    chosen = [(file, case) for file, case in cases if only.lower() in f"{file}:{case.line} {case.name}".lower()]
    if not chosen:
        raise NotFound(f"no case has {only!r} in its name or place", valid=[case.name for _, case in cases][:NAMED_MAX])
    return chosen


@contextmanager
def _session() -> Iterator[CaseSession]:
    from headrace.cases import CaseSession  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="headrace-spark-") as directory:
        session = CaseSession(Path(directory))
        try:
            session.begin()
            yield session
        finally:
            session.stop()


def _run(
    session: CaseSession, cases: Sequence[tuple[Path, Case]], modes: tuple[Mode, ...], seed: int
) -> Iterator[tuple[Path, list[CaseResult]]]:
    from headrace.cases import Runner  # noqa: PLC0415
    from headrace.operators import load_catalogue  # noqa: PLC0415

    runner = Runner(session.spark, load_catalogue(), seed)
    return zip([file for file, _ in cases], runner.run_all([case for _, case in cases], modes), strict=True)


def _show(file: Path, results: list[CaseResult]) -> None:
    from rich.text import Text  # noqa: PLC0415

    out = console()
    for result in results:
        word = "skip" if result.skipped else "ok" if result.is_passed else "FAIL"
        line = Text(f"{word:4} ", style="" if result.is_passed else "bold red")
        line += Text(f"{_place(file, result)} ", style="")
        line += Text(f"{result.seconds:.2f} s", style="yellow" if result.seconds > SLOW_S else "dim")
        line += Text(f": {result.skipped}" if result.skipped else "")
        out.print(line, soft_wrap=True)
        for failure in result.failures:
            out.print("     " + failure.replace("\n", "\n     "), markup=False, soft_wrap=True)


def _place(file: Path, result: CaseResult) -> str:
    return f"{file}:{result.case.line} {result.case.name} ({result.mode})"


@dataclass(frozen=True, slots=True)
class _Total:
    seconds: float
    start_s: float
    results: Sequence[Run]

    @property
    def failed(self) -> list[str]:
        return [_place(file, result) for file, result in self.results if not result.is_passed]

    def show(self) -> None:
        out = console()
        for place in self.failed if len(self.results) > IN_SIGHT else ():
            out.print(f"FAIL {place}", style="bold red", markup=False, soft_wrap=True)
        case_count = len({(file, result.case.line) for file, result in self.results})
        skipped = sum(result.skipped is not None for _, result in self.results)
        counts = f"cases: {case_count}, runs: {len(self.results)}, skipped: {skipped}, failed: {len(self.failed)}"
        start = f", {self.start_s:.1f} s of them for Spark to start" if self.start_s else ""
        out.print(f"{counts}; {self.seconds:.1f} s{start}", markup=False, soft_wrap=True)
        if len(self.results) > 1:
            file, slowest = max(self.results, key=lambda one: one[1].seconds)
            median_s = statistics.median(result.seconds for _, result in self.results)
            told = f"a run: {median_s:.2f} s in the median, at most {slowest.seconds:.2f} s: {_place(file, slowest)}"
            out.print(told, style="dim", markup=False, soft_wrap=True)

    def as_dict(self) -> dict[str, object]:
        runs = [_as_dict(file, result) for file, result in self.results]
        return {"seconds": round(self.seconds, 3), "start_seconds": round(self.start_s, 3), "runs": runs}


def _write_junit(path: Path, results: Sequence[Run]) -> None:
    from headrace.cases import junit_xml  # noqa: PLC0415

    try:
        path.write_text(junit_xml([(str(file), result) for file, result in results]), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None


def _as_dict(file: Path, result: CaseResult) -> dict[str, object]:
    return {
        "file": str(file),
        "line": result.case.line,
        "case": result.case.name,
        "mode": result.mode,
        "passed": result.is_passed,
        "skipped": result.skipped,
        "failures": list(result.failures),
        "seconds": round(result.seconds, 3),
    }
