"""What a person does in the editor, and what the server then has: steps that several tests take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.ui.conftest import POLL_S

OpenPage = Callable[..., Page]
Draft = dict[str, Any]

SAVE_TIMEOUT_S = 20.0
# Starting a query takes Spark a while on a busy machine.
FIRST_ROWS_TIMEOUT_MS = 120_000
REST_MS = 100
RESTS_MAX = 60
TABS_MAX = 120

NODES = [
    {"id": "numbers", "operator": "generator", "config": {}},
    {"id": "small", "operator": "filter", "config": {"condition": "value < 10"}},
    {"id": "out", "operator": "to-topic", "config": {"topic": "small-numbers"}},
]
EDGES = [
    {"source": "numbers", "target": "small", "source_port": "out", "target_port": "in"},
    {"source": "small", "target": "out", "source_port": "out", "target_port": "in"},
]
LAYOUT = {"numbers": {"x": 0, "y": 0}, "small": {"x": 320, "y": 0}, "out": {"x": 640, "y": 0}}


def draft_of(api: httpx.Client, name: str) -> Draft:
    draft: Draft = api.get(f"/api/pipelines/{name}/draft").json()
    return draft


def make(api: httpx.Client, name: str) -> None:
    """A draft of three nodes: numbers → small → out."""
    document = {"format": 1, "name": name, "nodes": NODES, "edges": EDGES}
    body = {"expected_revision": 0, "document": document, "layout": LAYOUT}
    answer = api.put(f"/api/pipelines/{name}/draft", json=body)
    assert answer.status_code == 200, answer.text


def make_from_text(api: httpx.Client, name: str, text: str) -> Draft:
    answer = api.put(f"/api/pipelines/{name}/draft", json={"expected_revision": 0, "text": text})
    assert answer.status_code == 200, answer.text
    draft: Draft = answer.json()
    assert draft["problems"] == []
    return draft


def deploy(api: httpx.Client, name: str, revision: int) -> None:
    body = {"expected_revision": revision, "note": "", "author": ""}
    answer = api.post(f"/api/pipelines/{name}/deploy", json=body)
    assert answer.status_code == 200, answer.text


def stop(api: httpx.Client, name: str) -> None:
    assert api.post(f"/api/pipelines/{name}/stop").status_code == 200


def settled(api: httpx.Client, name: str, condition: Callable[[Draft], bool], what: str = "edited") -> Draft:
    """The saved draft, once it is as it should be: the editor saves a moment after an edit."""
    deadline_s = time.monotonic() + SAVE_TIMEOUT_S
    while not condition(draft := draft_of(api, name)):
        assert time.monotonic() < deadline_s, f"{what}: the draft stayed {draft['document']} {draft['layout']}"
        time.sleep(POLL_S)
    return draft


def wires(draft: Draft) -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in draft["document"]["edges"]}


def config_of(draft: Draft, name: str) -> dict[str, Any]:
    return next(dict(node["config"]) for node in draft["document"]["nodes"] if node["id"] == name)


def condition_of(api: httpx.Client, name: str) -> str:
    return str(config_of(draft_of(api, name), "small").get("condition"))


def node(page: Page, name: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{name}"]')


def palette_entry(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name="Palette").get_by_role("button", name=title, exact=True)


def drop(page: Page, title: str, x: float, y: float) -> None:
    """Drags an operator from the palette to a place in the window."""
    canvas = page.get_by_test_id("canvas")
    box = canvas.bounding_box()
    assert box is not None
    palette_entry(page, title).drag_to(canvas, target_position={"x": x - box["x"], "y": y - box["y"]})


def port(page: Page, name: str, side: str) -> tuple[float, float]:
    """The middle of a port, in the window, once the canvas has come to rest."""
    handle, before = node(page, name).locator(f".react-flow__handle-{side}"), None
    for _ in range(RESTS_MAX):
        box = handle.bounding_box()
        if box is not None and box == before:
            return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = box
        page.wait_for_timeout(REST_MS)
    pytest.fail(f"{name} does not come to rest")


def middle_of_wire(page: Page, source: str, target: str) -> tuple[float, float]:
    (start_x, start_y), (end_x, end_y) = port(page, source, "right"), port(page, target, "left")
    return (start_x + end_x) / 2, (start_y + end_y) / 2


def click_wire(page: Page, source: str, target: str) -> None:
    page.mouse.click(*middle_of_wire(page, source, target))


def drag_wire(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(end[0] - 20, end[1], steps=4)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def connect(page: Page, source: str, target: str) -> None:
    """Draws the wire with the mouse, from port to port."""
    drag_wire(page, port(page, source, "right"), port(page, target, "left"))


def topic_field(page: Page) -> Locator:
    return page.locator("input").and_(page.get_by_label(re.compile("^Topic")))


def drawer(page: Page) -> Locator:
    return page.locator("[data-drawer]")


def set_condition(page: Page, text: str) -> None:
    node(page, "small").click()
    page.get_by_role("textbox", name="Condition").fill(text)


def saved(page: Page, timeout_ms: float = SAVE_TIMEOUT_S * 1000) -> None:
    expect(page.get_by_role("status", name="Draft")).to_have_text("Draft saved", timeout=timeout_ms)


def rows_flow(page: Page) -> None:
    """Every edge shows a total above nothing."""
    figures = page.get_by_test_id("edge-figures")
    for figure in (figures.first, figures.last):
        expect(figure).to_have_text(re.compile(r"/s · [1-9]"), timeout=FIRST_ROWS_TIMEOUT_MS)


def press_tab_to(page: Page, wanted: Locator) -> None:
    """Reaches a control as someone without a mouse does."""
    wanted.wait_for()
    for _ in range(TABS_MAX):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{wanted} cannot be reached with Tab")


def choose(page: Page, key: str, text: str) -> None:
    """Opens a picker by its key and takes what is found by typing."""
    page.keyboard.press(key)
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
