"""Notations of one pipeline, and two tabs on one draft."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect

OpenPage = Callable[..., Page]

SAVE_TIMEOUT_S = 20.0
POLL_S = 0.1

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


def draft_of(api: httpx.Client, name: str) -> dict[str, Any]:
    draft: dict[str, Any] = api.get(f"/api/pipelines/{name}/draft").json()
    return draft


def make(api: httpx.Client, name: str) -> None:
    document = {"format": 1, "name": name, "nodes": NODES, "edges": EDGES}
    body = {"expected_revision": 0, "document": document, "layout": LAYOUT}
    answer = api.put(f"/api/pipelines/{name}/draft", json=body)
    assert answer.status_code == 200, answer.text


def settled(api: httpx.Client, name: str, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The saved draft, once it is as it should be: the editor saves a moment after an edit."""
    deadline_s = time.monotonic() + SAVE_TIMEOUT_S
    while not condition(draft := draft_of(api, name)):
        assert time.monotonic() < deadline_s, f"the draft stayed {draft['document']}"
        time.sleep(POLL_S)
    return draft


def node(page: Page, name: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{name}"]')


def saved(page: Page, timeout_ms: float = 20_000) -> None:
    expect(page.get_by_role("status", name="Draft")).to_have_text("Draft saved", timeout=timeout_ms)


def condition_of(api: httpx.Client, name: str) -> str:
    nodes = draft_of(api, name)["document"]["nodes"]
    return next(str(one["config"].get("condition")) for one in nodes if one["id"] == "small")


def set_condition(page: Page, text: str) -> None:
    node(page, "small").click()
    page.get_by_role("textbox", name="Condition").fill(text)


def test_sql_and_canvas_are_two_views_of_one_pipeline(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "two-views")
    page = open_page("/pipelines/two-views")
    set_condition(page, "value < 77")
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
