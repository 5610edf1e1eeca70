from __future__ import annotations

from rich.console import Console

from headrace.cli.live import KEPT_MAX, ChangingRows, Scrolling, cell_text


def printed(changing: ChangingRows, height: int = 10, *, is_over: bool = True) -> list[str]:
    out = Console(width=60, force_terminal=False)
    with out.capture() as capture:
        out.print(changing.shown(height, is_over=is_over))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_later_row_takes_the_place_of_the_one_with_its_key() -> None:
    changing = ChangingRows(["k", "n"], ["k"])
    for row in ({"k": "a", "n": 1}, {"k": "b", "n": 1}, {"k": "a", "n": 2}):
        changing.add(row)
    assert printed(changing) == ["k  n", "a  2", "b  1", "2 rows, 3 changes"]


def test_without_keys_there_is_one_row() -> None:
    changing = ChangingRows(["n"], [])
    for n in range(3):
        changing.add({"n": n})
    assert printed(changing, is_over=False) == ["n", "2", "1 rows, 3 changes; Ctrl-C ends"]


def test_the_newest_rows_are_shown_where_not_all_fit_and_a_limit_is_kept() -> None:
    changing = ChangingRows(["k"], ["k"])
    for k in range(KEPT_MAX + 5):
        changing.add({"k": k})
    assert printed(changing, height=2) == [
        "k",
        str(KEPT_MAX + 3),
        str(KEPT_MAX + 4),
        f"{KEPT_MAX} rows, {KEPT_MAX + 5} changes, {KEPT_MAX - 2} not shown",
    ]


def test_rows_below_each_other_in_columns_that_grow() -> None:
    scrolling = Scrolling(["id", "note"], 20)
    assert scrolling.lines({"id": 1, "note": "x"}) == ["id  note", "1   x"]
    assert scrolling.lines({"id": 12345, "note": None}) == ["12345"]
    assert scrolling.lines({"id": 2, "note": "words that do not fit at all"}) == ["2      words th…"]


def test_cells() -> None:
    assert [cell_text(value) for value in (None, "a", 1.5, True, ["ä"], {"a": 1})] == [
        "", "a", "1.5", "true", '["ä"]', '{"a": 1}',
    ]  # fmt: skip
