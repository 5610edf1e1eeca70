"""Notations of one pipeline, and two tabs on one draft."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect
from tests.ui.steps import OpenPage, condition_of, draft_of, make, node, saved, set_condition, settled


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
    # The text is kept as a draft of its own: through another tab, a reload and in another browser.
    status = page.get_by_role("status", name="Draft")
    expect(status).to_have_text("Saved; SQL has an error")
    page.get_by_text("Canvas", exact=True).click()
    expect(node(page, "small")).to_contain_text("value < 88")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The SQL tab holds a text with an error")
    page.keyboard.press("Escape")
    page.reload()
    expect(status).to_have_text("Saved; SQL has an error")
    page.get_by_text("SQL", exact=True).click()
    expect(code).to_contain_text("valu < 88")
    expect(page.get_by_role("alert")).to_contain_text("valu")
    code.fill(sql.replace("value < 77", "value < 99"))
    expect(status).to_have_text("Draft saved")
    assert condition_of(api, "two-views") == "value < 99"
    # What was typed stays as it was typed, and undo takes the whole of it back.
    expect(code).to_contain_text("value < 99")
    code.fill("SELECT FORM")
    page.get_by_role("button", name="Discard this text").click()
    expect(code).to_contain_text("value < 99")
    saved(page)
    assert draft_of(api, "two-views")["texts"] == {}


def test_a_name_that_no_pipeline_has_makes_none(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "mistyped")
    page = open_page("/pipelines/mistypd")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no pipeline named mistypd")
    expect(page.get_by_text("mistyped")).to_be_visible()
    expect(page.get_by_role("status", name="Draft")).to_have_count(0)
    assert api.get("/api/pipelines/mistypd/draft").status_code == 404
    page.get_by_role("button", name="Make a new one of this name").click()
    expect(page.get_by_text("Nothing flows yet")).to_be_visible()
    saved(page)

    page = open_page("/topics")
    page.get_by_role("button", name="New topic").click()
    page.get_by_role("textbox", name="Name").fill("my topic")
    expect(page.get_by_text("no spaces")).to_be_visible()
    expect(page.get_by_role("button", name="Make the topic")).to_be_disabled()


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
