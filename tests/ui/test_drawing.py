"""A pipeline drawn from nothing by mouse, deployed and watched."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

OpenPage = Callable[..., Page]

# Starting a query takes Spark a while on a busy machine.
FIRST_ROWS_TIMEOUT_MS = 120_000
SAVE_TIMEOUT_S = 20.0
POLL_S = 0.1
REST_MS = 150
RESTS_MAX = 40

CHAIN = [("filter_1", "to_topic_1"), ("generator_1", "filter_1")]

pytestmark = pytest.mark.timeout(400)


def node(page: Page, name: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{name}"]')


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


def connect(page: Page, source: str, target: str) -> None:
    """Draws the wire with the mouse, from port to port."""
    (start_x, start_y), (end_x, end_y) = port(page, source, "right"), port(page, target, "left")
    page.mouse.move(start_x, start_y)
    page.mouse.down()
    page.mouse.move(end_x - 20, end_y, steps=4)
    page.mouse.move(end_x, end_y, steps=4)
    page.mouse.up()


def topic_field(page: Page) -> Locator:
    return page.locator("input").and_(page.get_by_label(re.compile("^Topic")))


def rows_flow(page: Page) -> None:
    """Every edge shows a total above nothing."""
    figures = page.get_by_test_id("edge-figures")
    expect(figures.first).to_have_text(re.compile(r"/s · [1-9]"), timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(figures.last).to_have_text(re.compile(r"/s · [1-9]"), timeout=FIRST_ROWS_TIMEOUT_MS)


def is_saved(api: httpx.Client, name: str, topic: str) -> None:
    """The draft on the server is the whole chain, with its last setting: the editor saves a moment after an edit."""
    deadline_s = time.monotonic() + SAVE_TIMEOUT_S
    while True:
        draft = api.get(f"/api/pipelines/{name}/draft").json()
        edges = [(edge["source"], edge["target"]) for edge in draft["document"]["edges"]]
        topics = [node["config"].get("topic") for node in draft["document"]["nodes"] if node["operator"] == "to-topic"]
        if edges == CHAIN and topics == [topic]:
            assert draft["problems"] == []
            return
        assert time.monotonic() < deadline_s, draft["document"]
        time.sleep(POLL_S)


def stop(api: httpx.Client, name: str) -> None:
    assert api.post(f"/api/pipelines/{name}/stop").status_code == 200


@pytest.mark.slow
def test_by_mouse(open_page: OpenPage, api: httpx.Client) -> None:
    page = open_page("/")
    page.get_by_role("button", name="New pipeline").click()
    page.get_by_label("Name").fill("by-mouse")
    page.get_by_role("button", name="Open the canvas").click()
    palette, canvas = page.get_by_role("region", name="Palette"), page.get_by_test_id("canvas")
    expect(page.get_by_text("Nothing flows yet")).to_be_visible()
    for title, x in (("Generator", 120), ("Filter", 380), ("To topic", 640)):
        button = palette.get_by_role("button", name=title, exact=True)
        button.drag_to(canvas, target_position={"x": x, "y": 160})
    page.keyboard.press("Escape")
    page.locator(".react-flow__pane").click(position={"x": 20, "y": 20})
    page.keyboard.press("Shift+Alt+T")
    connect(page, "generator_1", "filter_1")
    connect(page, "filter_1", "to_topic_1")
    node(page, "filter_1").click()
    page.get_by_role("textbox", name="Condition").fill("value % 2 = 0")
    node(page, "to_topic_1").click()
    topic_field(page).fill("even-numbers")
    page.keyboard.press("Escape")
    is_saved(api, "by-mouse", "even-numbers")

    page.get_by_role("button", name="Deploy", exact=True).click()
    dialog = page.get_by_role("dialog", name="Deploy by-mouse")
    expect(dialog).to_contain_text('filter_1: filter condition="value % 2 = 0"')
    dialog.get_by_label("Note").fill("the first")
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_be_hidden(timeout=FIRST_ROWS_TIMEOUT_MS)
    rows_flow(page)

    stop(api, "by-mouse")
