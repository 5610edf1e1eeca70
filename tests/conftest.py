"""What all tests share: no wall-clock deadlines on a shared machine, and failing examples that can be replayed.

Several processes get them folder by folder, for what a folder starts once is dear."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tests.campaign import IS_CAMPAIGN, keep_result
from tests.missing import skip_without, summary
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer  # type: ignore[import-untyped]

settings.register_profile("headrace", deadline=None, print_blob=True)
settings.load_profile("headrace")


def pytest_configure() -> None:
    # In the background of a shell SIGINT is ignored, also in what tests start and end by Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was skipped, why, and what brings it; of a campaign the result is kept."""
    if IS_CAMPAIGN:
        keep_result(report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, []))
    reports = terminalreporter.stats.get("skipped", [])
    lines = summary((report.nodeid, report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple))
    if lines:
        terminalreporter.section("skipped")
        for line in lines:
            terminalreporter.write_line(line)


class _ByFolder(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        """Tests of one folder share a stack; those beside the folders are dealt out by file."""
        file = PurePosixPath(nodeid.partition("::")[0])
        return str(file if file.parent.name == "tests" else file.parent)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByFolder:
    # As they are collected: those with the most tests are not those that take longest.
    config.option.loadscopereorder = False
    return _ByFolder(config, log)


@pytest.fixture
def seed() -> int:
    """Another one each time, told where the test fails; `HEADRACE_SEED=n` chooses the same again."""
    found = int(os.environ.get("HEADRACE_SEED") or random.SystemRandom().randrange(1_000_000))
    print(f"HEADRACE_SEED={found}")
    return found


@pytest.fixture(scope="session")
def kcat() -> str:
    path = shutil.which("kcat")
    if path is None:
        skip_without("kcat is not installed", "the broker with librdkafka's own tool is", "apt-get install kcat")
    return path


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Headrace's own session: one process has one Spark, and engines of later tests take this one."""
    from headrace.spark.session.session import SparkSettings, start_session

    session = start_session(SparkSettings(tmp_path_factory.mktemp("spark")))
    yield session
    session.stop()
