"""What is told of a draft on the canvas, and the ways to look at it: marks and lists, keys, permalinks, themes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect
from tests.ui.steps import OpenPage, drawer, make, node, port, set_condition

TEXT = 'generator 5 as numbers ! filter "value < 10" as small ! to-topic small-numbers as out'
# Places are rounded to whole pixels in a permalink.
ROUNDED_PX = 2


def test_changes_and_problems_are_marked_where_they_are(open_page: OpenPage, api: httpx.Client) -> None:
    assert api.post("/api/pipelines", json={"text": TEXT, "name": "marked"}).status_code == 201
    page = open_page("/pipelines/marked")
    set_condition(page, "value < 7")
    expect(page.get_by_role("button", name="1 change against the latest version")).to_be_visible()
    expect(node(page, "small").get_by_role("img", name="changed")).to_be_visible()
    expect(node(page, "numbers").get_by_role("img", name="changed")).to_have_count(0)
    set_condition(page, "absent < 7")
    expect(drawer(page)).to_contain_text("absent")
    node(page, "small").get_by_role("img", name="1 problem").hover()
    expect(page.get_by_role("tooltip").filter(has_text="absent")).to_be_visible()
    page.locator(".react-flow__pane").click(position={"x": 10, "y": 10})
    page.keyboard.press("p")
    page.get_by_role("tabpanel").get_by_role("button", name=re.compile("small.*absent")).click()
    expect(drawer(page).get_by_role("textbox", name="Condition")).to_be_visible()


def test_columns_are_offered_while_an_expression_is_typed(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "offered")
    page = open_page("/pipelines/offered")
    set_condition(page, "")
    page.get_by_role("textbox", name="Condition").press_sequentially("val", delay=40)
    expect(page.get_by_role("option", name=re.compile("value"))).to_be_visible()


def test_a_permalink_opens_the_same_place(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "linked")
    page = open_page("/pipelines/linked")
    x, y = port(page, "small", "right")
    page.mouse.move(x, y + 120)
    page.mouse.wheel(0, 200)
    expect(page).to_have_url(re.compile(r"zoom=0\.\d+"))
    seen = port(page, "small", "right")
    assert seen != pytest.approx((x, y), abs=ROUNDED_PX)
    other = open_page(urlsplit(page.url).fragment)
    assert port(other, "small", "right") == pytest.approx(seen, abs=ROUNDED_PX)


def test_commands_are_found_by_name_and_keys_are_listed(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "commanded")
    page = open_page("/pipelines/commanded")
    expect(page.locator(".react-flow__minimap-node")).to_have_count(3)
    page.keyboard.press("ControlOrMeta+k")
    # Keys that come before the field has the focus would go to the canvas.
    expect(page.get_by_role("dialog").locator("input")).to_be_focused()
    page.keyboard.type("show as python")
    expect(page.get_by_role("dialog").get_by_role("button")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Pipeline as Python")).to_contain_text("value < 10")
    page.get_by_text("Canvas", exact=True).click()
    expect(page.locator(".react-flow__minimap-node")).to_have_count(3)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Delete and reconnect")


def test_a_theme_is_kept(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Use the dark theme").click()
    page.reload()
    expect(page.get_by_role("button", name="Use the light theme")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
