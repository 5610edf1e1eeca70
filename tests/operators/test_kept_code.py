"""What a pipeline was started with stays, whatever becomes of the plugin folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headrace.errors import InvalidInput
from headrace.graph.text import parse_text
from headrace.graph.validation import inspect
from headrace.operators import Catalogue, WatchedCatalogue
from headrace.operators.functions import find_function
from headrace.operators.imports import load_object
from headrace.operators.kept_code import KEPT_FOLDER, note_code, noted_code, sweep_code
from headrace.operators.plugin_folder import FOLDER_VARIABLE, plugin_folder, use_plugin_folder
from headrace.operators.template import operator_template
from headrace.serial import API_VERSION

FUNCTION = """from headrace.serial import sql_function
from kept_helper import RATE

@sql_function
def taxed(price: float) -> float:
    return price * RATE
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "plugins"
    made.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(made))
    return made


@pytest.fixture
def watched(folder: Path) -> WatchedCatalogue:
    return WatchedCatalogue(look_again_s=0)


def write(folder: Path, summary: str = "Numbers") -> None:
    text = operator_template("counter", API_VERSION)["counter.py"]
    (folder / "counter.py").write_text(text.replace("Numbers the rows", f"{summary} the rows"))


def summary(catalogue: Catalogue) -> str:
    return catalogue.get("counter").spec.summary


def test_a_running_pipeline_keeps_its_operators(folder: Path, watched: WatchedCatalogue, tmp_path: Path) -> None:
    write(folder)
    started = watched.kept(tmp_path, None)
    assert watched.is_current(started.folder)
    write(folder, "Counts")
    assert summary(watched) == "Counts the rows of each partition."
    assert summary(started) == "Numbers the rows of each partition."
    assert not watched.is_current(started.folder)
    again = watched.kept(tmp_path, None)
    assert summary(again) == "Counts the rows of each partition."
    (folder / "counter.py").write_text("def broken(:\n")
    assert summary(started) == "Numbers the rows of each partition."
    # A server that was started again finds the code of its pipelines, too.
    assert started.folder is not None
    assert summary(WatchedCatalogue(look_again_s=0).kept_in(started.folder)) == "Numbers the rows of each partition."


def test_what_is_wrong_with_a_file_is_said_where_its_operator_is_missing(
    folder: Path, watched: WatchedCatalogue, tmp_path: Path
) -> None:
    write(folder)
    document = parse_text("generator 5 ! counter ! preview", watched)
    (folder / "counter.py").write_text("def broken(:\n")
    for catalogue in (watched, watched.kept(tmp_path, None)):
        (problem,) = [found for found in inspect(document, catalogue).problems if "unknown operator" in found.message]
        assert "counter.py" in (problem.hint or "")
        assert "SyntaxError" in (problem.hint or "")


def test_files_beside_a_plugin_are_those_of_its_folder(folder: Path, watched: WatchedCatalogue, tmp_path: Path) -> None:
    (folder / "shop.py").write_text(FUNCTION)
    (folder / "kept_helper.py").write_text("RATE = 2.0")
    (folder / "rates.csv").write_text("a,1")
    first = watched.kept(tmp_path, None)
    (folder / "kept_helper.py").write_text("RATE = 3.0")
    second = watched.kept(tmp_path, None)
    for _ in range(2):
        for catalogue, rate in ((first, 2.0), (second, 3.0), (watched, 3.0)):
            with catalogue.active():
                for place in ("taxed", "shop.py:taxed", "shop:taxed"):
                    found = find_function(place)
                    assert found is not None
                    assert found(10.0) == 10.0 * rate
                assert load_object("kept_helper:RATE") == rate
    assert "kept_helper" not in sys.modules
    assert (Path(str(first.folder)) / "rates.csv").read_text() == "a,1"


def test_a_worker_goes_from_one_pipeline_to_the_next(folder: Path, watched: WatchedCatalogue, tmp_path: Path) -> None:
    (folder / "lazy_shop.py").write_text("def rate():\n    import lazy_helper\n    return lazy_helper.RATE\n")
    copies = []
    for rate in (2, 3):
        (folder / "lazy_helper.py").write_text(f"RATE = {rate}")
        copies.append((watched.kept(tmp_path, None).folder, rate))
    try:
        for copy, rate in (*copies, *copies):
            use_plugin_folder(copy)
            assert load_object("lazy_shop:rate")() == rate
    finally:
        use_plugin_folder(str(folder))
        use_plugin_folder(None)


def test_a_file_hides_nothing_of_python(folder: Path) -> None:
    (folder / "queue.py").write_text("raise OSError('hidden')")
    assert load_object("queue:Queue").__module__ == "queue"


def test_copies_last_as_long_as_a_pipeline_has_them(folder: Path, watched: WatchedCatalogue, tmp_path: Path) -> None:
    jobs, names = tmp_path / "jobs", []
    for word in ("Counts", "Numbers"):
        write(folder, word)
        names.append(watched.kept(tmp_path, None).folder)
    assert watched.kept(tmp_path, None).folder == names[1]
    note_code(jobs, "alerts", names[0])
    sweep_code(tmp_path, jobs)
    assert [str(path) for path in (tmp_path / KEPT_FOLDER).iterdir()] == [names[0]]
    assert noted_code(tmp_path, jobs, "alerts") == names[0]
    note_code(jobs, "alerts", None)
    sweep_code(tmp_path, jobs)
    assert noted_code(tmp_path, jobs, "alerts") is None
    assert not list((tmp_path / KEPT_FOLDER).iterdir())


def test_functions_of_the_session_are_kept_by_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watched: WatchedCatalogue
) -> None:
    main = vars(sys.modules["__main__"])
    exec("def cell(n: int) -> int:\n    return n + 1\n", main)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = tmp_path / "of_the_session.py"
    module.write_text("def twice(n):\n    return 2 * n\n")
    texts = ["__main__:cell", "of_the_session:twice", "headrace.operators.samples:doubled", "n:m", "no place"]
    try:
        first = watched.kept(tmp_path, texts)
        exec("def cell(n: int) -> int:\n    return n + 100\n", main)
        module.write_text("def twice(n):\n    return 20 * n\n")
        second = watched.kept(tmp_path, texts)
    finally:
        main.pop("cell", None)
        sys.modules.pop("of_the_session", None)
    for catalogue, added, doubled in ((first, 2, 4), (second, 101, 40)):
        with catalogue.active():
            assert load_object("__main__:cell")(1) == added
            assert load_object("of_the_session:twice")(2) == doubled
    assert plugin_folder() != first.folder
    with pytest.raises(InvalidInput, match="'__main__' has no 'cell'"):
        load_object("__main__:cell")
