"""An archive of the classes that Spark loads: Java maps it instead of reading and checking 15,000 of them at a start.

It halves the CPU time of a start. It is made once for an installation: Java lists what it loads while it does the kinds
of work that pipelines do (`rehearsal.py`), then writes these classes into a file of about 170 MB.
`python -m headrace.spark.session.archive` takes about a minute.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from headrace.errors import ExternalFailure
from headrace.process.python import python_module
from headrace.spark.session.kept import kept_directory
from headrace.spark.session.liveness import java_process

DUMP_TIMEOUT_S: Final = 900.0
END_TIMEOUT_S: Final = 60.0
# An engine that is just starting has better uses for the machine.
DELAY_S: Final = 120.0
# Java takes up to this much to make it.
MEMORY_MIN_BYTES: Final = 3 << 30
_LATER: Final = "--later"
_PREFIX: Final = "java-classes-"
_LEAST_URGENT: Final = 19
# Without it a start takes longer, no more: Java need not say so.
_QUIET: Final = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def class_path() -> list[Path]:
    """Spark's jars, always in one order: an archive is good for that order alone."""
    found = find_spec("pyspark")
    package = Path() if found is None or found.origin is None else Path(found.origin).parent
    # Spark's scripts put this one first as well.
    return sorted((package / "jars").glob("*.jar"), key=lambda jar: (not jar.name.startswith("slf4j-api-"), jar.name))


def archive_options(java: str) -> list[str]:
    """For a Java that is started with that class path; none where it has no archive."""
    archive = _archive_of(java)
    return [f"-XX:SharedArchiveFile={archive}", *_QUIET] if archive.exists() else []


def is_archive_missing(java: str) -> bool:
    """False also where making it has failed."""
    archive = _archive_of(java)
    return not (archive.exists() or _failure(archive).exists())


def archive_later() -> subprocess.Popen[bytes] | None:
    """A process that makes the archive for the Java of this one, if it has none."""
    java = java_process()
    if java is None or not is_archive_missing(_executable_of(java.pid)):
        return None
    return subprocess.Popen(python_module("headrace.spark.session.archive", _LATER), stdin=subprocess.DEVNULL)


def make_archive() -> None:
    """Does nothing where it is there. Raises ExternalFailure when Spark does not start, OSError."""
    with tempfile.TemporaryDirectory(prefix="headrace-archive-") as place:
        classes = Path(place) / "classes"
        java = _list_classes(Path(place), classes)
        if is_archive_missing(java):
            _write_archive(java, classes, _archive_of(java))


def _list_classes(place: Path, classes: Path) -> str:
    """Returns the Java that wrote the list; it is complete when Java has ended."""
    from headrace.spark.session.rehearsal import rehearse  # noqa: PLC0415  (pyarrow, which a start does not wait for)
    from headrace.spark.session.session import SparkSettings, start_session  # noqa: PLC0415  (it starts archives)

    session = start_session(SparkSettings(place / "spark", java_options=f"-XX:DumpLoadedClassList={classes}"))
    process = java_process()
    if process is None or process.stdin is None:
        raise ExternalFailure("Spark's Java process was started by somebody else", hint="unset PYSPARK_GATEWAY_PORT")
    java = _executable_of(process.pid)
    rehearse(session, place)
    session.stop()
    process.stdin.close()
    process.wait(END_TIMEOUT_S)
    return java


def _write_archive(java: str, classes: Path, archive: Path) -> None:
    for outdated in archive.parent.glob(f"{_PREFIX}*"):
        outdated.unlink(missing_ok=True)
    fresh = archive.with_suffix(f".{os.getpid()}")
    jars = os.pathsep.join(map(str, class_path()))
    options = ["-cp", jars, "-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={fresh}"]
    try:
        done = subprocess.run([java, *options], capture_output=True, text=True, timeout=DUMP_TIMEOUT_S, check=False)
        if done.returncode or not fresh.exists():
            _failure(archive).write_text(done.stdout + done.stderr)
            return
        _sync(fresh)
        fresh.rename(archive)
    finally:
        fresh.unlink(missing_ok=True)


def _executable_of(pid: int) -> str:
    return str(Path(f"/proc/{pid}/exe").readlink())


def _archive_of(java: str) -> Path:
    """Its name says what it was made of."""
    parts = [[str(part), (stat := part.stat()).st_size, stat.st_mtime_ns] for part in (Path(java), *class_path())]
    return kept_directory() / f"{_PREFIX}{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]}.jsa"


def _failure(archive: Path) -> Path:
    return archive.with_suffix(".failed")


def _sync(path: Path) -> None:
    """Java would trust a file that a loss of power has left with holes."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _has_memory() -> bool:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return any(int(line.split()[1]) << 10 >= MEMORY_MIN_BYTES for line in lines if line.startswith("MemAvailable:"))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that nothing is left behind
    if _LATER in sys.argv:
        os.nice(_LEAST_URGENT)
        time.sleep(DELAY_S)
    if _has_memory():
        make_archive()
