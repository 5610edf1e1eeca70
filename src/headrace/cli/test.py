"""`headrace test`: runs test files, as batch and as stream, and shows what differs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.options import Json
from headrace.cli.output import console, print_json
from headrace.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from headrace.cases import Case, CaseResult, Mode


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE|FOLDER…", help="Test files, or folders of .sql files.")],
    *,
    mode: Annotated[
        str | None, typer.Option("--mode", help="Only batch, only stream, or restart; default: the first two.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Where streams are cut: the same seed, the same cuts.")] = 0,
    as_json: Json = False,
) -> None:
    """Run SQL test files: rows in, rows expected. No broker is needed."""
    from headrace.cases import MODES, RESTART, read_cases  # noqa: PLC0415

    modes = MODES if mode is None else tuple(known for known in (*MODES, RESTART) if known == mode)
    if not modes:
        raise InvalidInput(f"there is no mode {mode!r}", valid=(*MODES, RESTART))
    cases = [(file, case) for file in _files(paths) for case in read_cases(file.read_text(), file.stem)]
    started_s = time.monotonic()
    results = _run(cases, modes, seed)
    if as_json:
        print_json({"runs": [_as_dict(file, result) for file, result in results]})
    else:
        _show(results, time.monotonic() - started_s)
    if not all(result.is_passed for _, result in results):
        raise typer.Exit(1)


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise NotFound(f"there is no file {str(path)!r}")
        found += sorted(path.rglob("*.sql")) if path.is_dir() else [path]
    return found


def _run(cases: list[tuple[Path, Case]], modes: tuple[Mode, ...], seed: int) -> list[tuple[Path, CaseResult]]:
    from headrace.cases import Runner, without_compiling  # noqa: PLC0415
    from headrace.operators import load_catalogue  # noqa: PLC0415
    from headrace.spark.session.session import SparkSettings, start_session  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="headrace-spark-") as directory:
        spark = start_session(SparkSettings(Path(directory), shuffle_partitions=1))
        try:
            without_compiling(spark)
            runner = Runner(spark, load_catalogue(), seed)
            return [(file, result) for file, case in cases for result in runner.run(case, modes)]
        finally:
            spark.stop()


def _show(results: list[tuple[Path, CaseResult]], seconds: float) -> None:
    out = console()
    for file, result in results:
        word = "skip" if result.skipped else "ok" if result.is_passed else "FAIL"
        reason = f": {result.skipped}" if result.skipped else ""
        out.print(
            f"{word:4} {file}:{result.case.line} {result.case.name} ({result.mode}){reason}",
            markup=False,
            soft_wrap=True,
        )
        for failure in result.failures:
            out.print("     " + failure.replace("\n", "\n     "), markup=False, highlight=False, soft_wrap=True)
    failed = sum(not result.is_passed for _, result in results)
    out.print(f"{len(results)} runs, {failed} failed, {seconds:.1f} s", markup=False)


def _as_dict(file: Path, result: CaseResult) -> dict[str, object]:
    return {
        "file": str(file),
        "line": result.case.line,
        "case": result.case.name,
        "mode": result.mode,
        "passed": result.is_passed,
        "skipped": result.skipped,
        "failures": list(result.failures),
    }
