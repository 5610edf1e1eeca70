"""A pipeline drawn from nothing, deployed and watched: by mouse, and by keyboard alone."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.ui.steps import (
    FIRST_ROWS_TIMEOUT_MS,
    OpenPage,
    choose,
    click_wire,
    config_of,
    connect,
    drawer,
    node,
    palette_entry,
    press_tab_to,
    rows_flow,
    settled,
    stop,
    topic_field,
    wires,
)

CHAIN = {("generator_1", "filter_1"), ("filter_1", "to_topic_1")}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def is_saved(api: httpx.Client, name: str, topic: str) -> None:
    """The draft on the server is the whole chain, with its last setting."""
    draft = settled(
        api, name, lambda draft: wires(draft) == CHAIN and config_of(draft, "to_topic_1").get("topic") == topic
    )
    assert draft["problems"] == []


def draw(page: Page) -> None:
    canvas = page.get_by_test_id("canvas")
    for title, x in (("Generator", 120), ("Filter", 380), ("To topic", 640)):
        palette_entry(page, title).drag_to(canvas, target_position={"x": x, "y": 160})
    connect(page, "generator_1", "filter_1")
    connect(page, "filter_1", "to_topic_1")
    node(page, "filter_1").click()
    page.get_by_role("textbox", name="Condition").fill("value % 2 = 0")
    node(page, "to_topic_1").click()
    topic_field(page).fill("even-numbers")
    page.keyboard.press("Escape")


def test_by_mouse(open_page: OpenPage, api: httpx.Client) -> None:
    page = open_page("/")
    page.get_by_role("button", name="New pipeline").click()
    page.get_by_label("Name").fill("by-mouse")
    page.get_by_role("button", name="Open the canvas").click()
    expect(page.get_by_text("Nothing flows yet")).to_be_visible()
    draw(page)
    is_saved(api, "by-mouse", "even-numbers")

    page.get_by_role("button", name="Deploy", exact=True).click()
    dialog = page.get_by_role("dialog", name="Deploy by-mouse")
    expect(dialog).to_contain_text('filter_1: filter condition="value % 2 = 0"')
    dialog.get_by_label("Note").fill("the first")
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog.get_by_role("status", name="Progress of the deploy")).to_contain_text("filter_1")
    expect(dialog).to_contain_text("Version 1 is verified", timeout=FIRST_ROWS_TIMEOUT_MS)
    dialog.get_by_role("button", name="Close").last.click()
    rows_flow(page)

    click_wire(page, "filter_1", "to_topic_1")
    newest = drawer(page).get_by_role("table", name="Newest events").get_by_role("row")
    expect(newest.nth(1)).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(newest.nth(1).get_by_role("cell").first).to_have_text(re.compile(r"^\d*[02468]$"))
    page.locator(".react-flow__pane").click(position={"x": 10, "y": 10})
    page.keyboard.press("l")
    expect(page.get_by_role("table", name="Events").get_by_role("row").filter(has_text="started")).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_role("figure")).to_have_count(3)
    stop(api, "by-mouse")


def test_by_keyboard_alone(open_page: OpenPage, api: httpx.Client) -> None:
    page = open_page("/")
    press_tab_to(page, page.get_by_role("button", name="New pipeline"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("by-keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing flows yet")).to_be_visible()
    choose(page, "n", "generator")
    choose(page, "n", "filter")
    press_tab_to(page, page.get_by_role("textbox", name="Condition"))
    page.keyboard.type("value > 3")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    press_tab_to(page, node(page, "filter_1"))
    choose(page, "n", "to topic")
    press_tab_to(page, topic_field(page))
    page.keyboard.type("above-three")
    page.keyboard.press("Escape")
    is_saved(api, "by-keyboard", "above-three")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_label("Note")).to_be_focused()
    page.keyboard.type("typed")
    press_tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Deploy"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Version 1 is verified", timeout=FIRST_ROWS_TIMEOUT_MS)
    page.keyboard.press("Escape")
    rows_flow(page)
    stop(api, "by-keyboard")
