"""The canvas under the mouse: what can be dropped, wired, copied and imported, and what cannot."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import FloatRect, Page, expect
from tests.ui.steps import (
    OpenPage,
    choose,
    click_wire,
    config_of,
    connect,
    draft_of,
    drag_wire,
    drop,
    make,
    middle_of_wire,
    node,
    port,
    saved,
    settled,
    wires,
)

STRAIGHT = {("numbers", "small"), ("small", "out")}
# Of a scaled node the browser computes 0.9999995 where all of it is seen. One row of pixels outside would be 0.99.
SEEN_RATIO = 0.999


@pytest.fixture
def page(open_page: OpenPage, api: httpx.Client, request: pytest.FixtureRequest) -> Page:
    """The editor on a pipeline that has the test's name."""
    name = pipeline(request)
    make(api, name)
    page = open_page(f"/pipelines/{name}", width=1600)
    expect(node(page, "out")).to_be_visible()
    return page


def pipeline(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).removeprefix("test_").replace("_", "-")[:40]


def test_what_is_dropped_stays_under_the_mouse(page: Page) -> None:
    x, y = port(page, "small", "right")
    drop(page, "Select", x, y + 160)
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("select_1")
    assert port(page, "small", "right") == (x, y)
    box = node(page, "select_1").bounding_box()
    assert box is not None
    assert abs(box["x"] + box["width"] / 2 - x) < 24


def test_an_operator_dropped_on_a_wire_is_inserted(
    page: Page, api: httpx.Client, request: pytest.FixtureRequest
) -> None:
    drop(page, "Select", *middle_of_wire(page, "small", "out"))
    expected = {("numbers", "small"), ("small", "select_1"), ("select_1", "out")}
    settled(api, pipeline(request), lambda draft: wires(draft) == expected)


def test_a_wire_dropped_on_nothing_offers_what_can_read_it(
    page: Page, api: httpx.Client, request: pytest.FixtureRequest
) -> None:
    x, y = port(page, "small", "right")
    drag_wire(page, (x, y), (x + 60, y + 140))
    expect(page.get_by_role("combobox", name="Add what reads it")).to_be_focused()
    offered = page.get_by_role("option")
    expect(offered.filter(has_text="To topic")).to_have_count(1)
    expect(offered.filter(has_text="Generator")).to_have_count(0)
    page.keyboard.type("preview")
    page.keyboard.press("Enter")
    settled(api, pipeline(request), lambda draft: wires(draft) == STRAIGHT | {("small", "preview_1")})


def test_a_wrong_wire_cannot_be_drawn(page: Page, api: httpx.Client, request: pytest.FixtureRequest) -> None:
    """A circle; an input that has a wire; a column that is not there."""
    x, y = port(page, "small", "left")
    drop(page, "Select", x, y + 160)
    connect(page, "small", "select_1")
    settled(api, pipeline(request), lambda draft: ("small", "select_1") in wires(draft))
    before = wires(draft_of(api, pipeline(request)))
    refused = page.get_by_text("Not connected")
    for number, (source, target) in enumerate((("select_1", "small"), ("select_1", "out")), 1):
        connect(page, source, target)
        expect(refused).to_have_count(number)
    saved(page)
    assert wires(draft_of(api, pipeline(request))) == before


def test_nodes_are_copied_and_pasted_as_text(page: Page, api: httpx.Client, request: pytest.FixtureRequest) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    node(page, "small").click()
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+c")
    expect(page.get_by_text("3 nodes copied as text")).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    assert 'filter "value < 10" as small' in text
    page.keyboard.press("ControlOrMeta+v")
    draft = settled(api, pipeline(request), lambda draft: len(draft["document"]["nodes"]) == 6)
    assert len(wires(draft)) == 4
    assert wires(draft) >= STRAIGHT


def test_an_exported_pipeline_can_be_imported(
    page: Page, api: httpx.Client, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    before = draft_of(api, pipeline(request))
    files = {}
    for notation in ("JSON", "Text", "SQL"):
        page.get_by_role("button", name="More", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=f"Export as {notation}").click()
        files[notation] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[notation])
    exported = json.loads(files["JSON"].read_text())
    assert exported["layout"] == before["layout"]

    replaced = import_into(page, files["JSON"], "Replace the pipeline")
    draft = settled(api, pipeline(request), lambda draft: config_of(draft, "small")["condition"] == replaced)
    assert len(draft["document"]["nodes"]) == 3
    import_into(page, files["SQL"], "Add beside")
    draft = settled(api, pipeline(request), lambda draft: len(draft["document"]["nodes"]) == 6)
    assert len(wires(draft)) == 4


def import_into(page: Page, file: Path, button: str) -> str:
    """Imports a file with another condition, which is returned."""
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import a pipeline")
    dialog.get_by_label("Pipeline").fill(file.read_text().replace("value < 10", "value < 99"))
    dialog.get_by_role("button", name=button).click()
    expect(dialog).to_be_hidden()
    return "value < 99"


def test_new_nodes_cover_nothing_and_a_tidy_graph_is_seen(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "roomy")
    page = open_page("/pipelines/roomy", width=1440, height=900)
    expect(node(page, "small")).to_be_visible()
    page.get_by_text("Text", exact=True).click()
    code = page.get_by_role("textbox", name="Pipeline as Text")
    expect(code).to_contain_text("small")
    code.fill(draft_of(api, "roomy")["notations"]["text"] + "\ngenerator 3 as lonely\n")
    settled(api, "roomy", lambda draft: len(draft["document"]["nodes"]) == 4)
    page.get_by_text("Canvas", exact=True).click()
    node(page, "numbers").click()
    choose(page, "n", "select")
    expect(node(page, "select_1")).to_be_visible()
    click_wire(page, "numbers", "small")
    choose(page, "n", "filter")
    expect(node(page, "filter_1")).to_be_visible()
    page.get_by_role("button", name="Fit to the window").click()
    names = ("numbers", "small", "out", "lonely", "select_1", "filter_1")
    boxes = [at_rest(page, name) for name in names]
    for index, one in enumerate(boxes):
        for other in boxes[index + 1 :]:
            is_apart = abs(one["x"] - other["x"]) >= one["width"] or abs(one["y"] - other["y"]) >= one["height"]
            assert is_apart, f"{one} covers {other}"
    # It is wired to nothing, and lies on the way of no wire.
    lonely, numbers = boxes[names.index("lonely")], boxes[names.index("numbers")]
    assert lonely["y"] >= numbers["y"] + numbers["height"]
    page.mouse.move(800, 500)
    page.mouse.wheel(0, -900)
    page.get_by_role("button", name="Tidy the layout").click()
    for name in names:
        expect(node(page, name)).to_be_in_viewport(ratio=SEEN_RATIO)


def at_rest(page: Page, name: str) -> FloatRect:
    port(page, name, "left" if name not in ("numbers", "lonely") else "right")
    box = node(page, name).bounding_box()
    assert box is not None
    return box
