"""Errors of the machine and of libraries, named: what happened, and what to do about it.

For the places where errors end (the HTTP API, the command line, a job). What is not known here is a defect.
"""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from headrace.errors import CorruptData, DiskFailure, EngineLost, ExternalFailure, HeadraceError, JobFailed

DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
FILES_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE)
_DISK: Final = (errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.ENODEV, errno.ESTALE)
_NETWORK: Final = (errno.EADDRNOTAVAIL, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN)

FREE_SPACE_HINT: Final = "free some space: what waits for it goes on by itself"
_MESSAGE_CHARACTERS_MAX: Final = 500


def known_cause(error: BaseException) -> HeadraceError | None:
    """The same error by its name, with what to do; None where nobody knows it."""
    return machine_cause(error) or _of_spark(error)


def machine_cause(error: BaseException) -> HeadraceError | None:
    """What disk, network, memory and database files say; None for all else."""
    if isinstance(error, HeadraceError):
        return error
    if isinstance(error, sqlite3.Error):
        return _of_database(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        return ExternalFailure("the machine has too little memory for this", hint="stop a pipeline, or add memory")
    return None


def _of_system(error: OSError) -> HeadraceError | None:
    place = "" if error.filename is None else f" ({error.filename})"
    if error.errno in DISK_FULL:
        return DiskFailure(f"the disk is full{place}", hint=FREE_SPACE_HINT)
    if error.errno in FILES_EXHAUSTED:
        return ExternalFailure(
            "this process has too many files open", hint="raise the limit (ulimit -n), or close connections"
        )
    if isinstance(error, ConnectionError | TimeoutError) or error.errno in _NETWORK:
        return ExternalFailure(
            f"a connection failed: {error.strerror or error}", hint="see whether the broker and the server run"
        )
    if error.errno in _DISK:
        return DiskFailure(
            f"the disk refuses: {error.strerror}{place}", hint="see the rights and the state of the disk"
        )
    return None


def _of_database(error: sqlite3.Error) -> HeadraceError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CorruptData(f"a database file is broken: {error}", hint="restore it from a backup")
    if code is not None and code & 0xFF == sqlite3.SQLITE_FULL:
        return DiskFailure("the disk is full (a database cannot grow)", hint=FREE_SPACE_HINT)
    return DiskFailure(f"a database file cannot be used: {error}", hint="try again; see the state of the disk")


def _of_spark(error: BaseException) -> HeadraceError | None:
    """By the names of the classes: who has no Spark must not load it for this."""
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    if ("py4j", "Py4JJavaError") in kinds:
        return JobFailed(f"Spark failed: {_first_line(getattr(error, 'java_exception', error))}")
    if ("py4j", "Py4JError") in kinds:
        return EngineLost(
            "Spark's Java process does not answer", hint="it is started again by itself; try again in a few seconds"
        )
    if ("pyspark", "PySparkException") in kinds:
        return JobFailed(f"Spark failed: {_first_line(error)}")
    return None


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0][:_MESSAGE_CHARACTERS_MAX]
