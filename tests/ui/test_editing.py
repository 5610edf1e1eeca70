"""Notations of one pipeline, and two tabs on one draft."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect
from tests.ui.steps import OpenPage, condition_of, make, node, saved, set_condition, settled


def test_sql_and_canvas_are_two_views_of_one_pipeline(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "two-views")
    page = open_page("/pipelines/two-views")
    set_condition(page, "value < 77")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_role("dialog", name="Deploy two-views")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_text("SQL", exact=True).click()
    code = page.get_by_role("textbox", name="Pipeline as SQL")
    expect(code).to_contain_text("value < 77")
    sql = settled(api, "two-views", lambda draft: "77" in draft["notations"]["sql"])["notations"]["sql"]
    code.fill(sql.replace("value < 77", "value < 88"))
    page.get_by_text("Canvas", exact=True).click()
    expect(node(page, "small")).to_contain_text("value < 88")

    page.get_by_text("SQL", exact=True).click()
    code.fill(sql.replace("value < 77", "valu < 88"))
    expect(page.get_by_role("alert")).to_contain_text("valu")
    expect(page.locator(".cm-lintRange-error")).to_be_visible()


def test_two_tabs_never_overwrite_each_other(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "shared")
    mine, other = open_page("/"), open_page("/pipelines/shared")
    # This tab hears nothing of what others do.
    mine.route("**/api/events*", lambda route: route.abort())
    mine.reload()
    mine.evaluate("window.location.hash = '/pipelines/shared'")
    expect(node(mine, "small")).to_be_visible()
    set_condition(other, "value < 1")
    saved(other)
    set_condition(mine, "value < 2")
    expect(mine.get_by_role("alert")).to_contain_text("This draft was changed elsewhere")
    assert condition_of(api, "shared") == "value < 1"
    mine.get_by_role("button", name="Keep mine as a copy").click()
    expect(mine.get_by_role("heading", level=1)).to_have_text("shared-copy")
    assert condition_of(api, "shared-copy") == "value < 2"
    assert condition_of(api, "shared") == "value < 1"
