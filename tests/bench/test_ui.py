from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.missing import skip_without

from headrace.bench.ui import BUDGETS, BUNDLE, DRAG, ITEMS, OPEN, UiSettings, bundle_kb
from headrace.bench.ui_graph import wide_document, wide_layout
from headrace.errors import InvalidInput, NotFound
from headrace.graph import validate
from headrace.operators import Catalogue

RUN_TIMEOUT_S = 300


def test_the_graph_has_500_nodes_and_could_run() -> None:
    document = wide_document()
    assert len(document.nodes) == len(wide_layout().positions) == 500
    validate(document, Catalogue())


def test_all_scripts_and_styles_count(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.js").write_bytes(os.urandom(100_000))
    (tmp_path / "assets" / "b.css").write_bytes(os.urandom(100_000))
    (tmp_path / "index.html").write_bytes(os.urandom(100_000))
    assert 200 < bundle_kb(tmp_path) < 201


def test_an_editor_that_is_not_built_has_no_size(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="not built"):
        bundle_kb(tmp_path)


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'drag'"):
        UiSettings(("drag",))


@pytest.mark.slow
@pytest.mark.timeout(RUN_TIMEOUT_S)
def test_the_suite_as_a_command() -> None:
    if shutil.which("chromium") is None:
        skip_without("Chromium is not installed", "the speed of the editor is", "apt-get install chromium")
    command = [sys.executable, "-m", "headrace", "bench", "ui", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    figures = {result["name"]: result["ours"] for result in report["results"]}
    assert tuple(figures) == ITEMS
    assert figures[BUNDLE] <= BUDGETS[BUNDLE]
    assert figures[DRAG] > 0
    assert figures[OPEN] > 0
