"""axe on every page, in both themes: names, roles, contrast."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]

AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
SQL = """CREATE STREAM readings (sensor STRING, temperature DOUBLE) WITH (topic = 'readings', format = 'json');
CREATE STREAM warm AS SELECT sensor FROM readings WHERE temperature > 30;"""
NAME = "looked-at"
TOPIC = "looked-at-topic"

# Where to look, and what is there once the page is complete.
PAGES = {
    "/": "Templates",
    "/topics": TOPIC,
    f"/topics/{TOPIC}": "hello",
    f"/topics/{TOPIC}?view=produce": "Headers",
    f"/topics/{TOPIC}?view=partitions": "Segments",
    f"/topics/{TOPIC}?view=settings": "retention.ms",
    "/topics?view=groups": "No consumer groups",
    "/topics?view=schemas": "looked-at-value",
    f"/pipelines/{NAME}": "warm_filter",
    f"/pipelines/{NAME}/versions": "No difference",
    "/nowhere": "There is no such page",
}


@pytest.fixture
def something_to_see(api: httpx.Client) -> None:
    api.post("/api/pipelines", json={"sql": SQL, "name": NAME, "note": "to look at"})
    api.post("/api/topics", json={"name": TOPIC})
    api.post("/api/registry/subjects/looked-at-value/versions", json={"schema": '"string"'})
    api.post(f"/api/topics/{TOPIC}/messages", json={"key": "k", "value": '{"hello": "there"}'})


def violations(page: Page, within: str = "html") -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("within => axe.run(within, { resultTypes: ['violations'] })", within)
    return [
        f"{one['id']}: {target['target']} {target['failureSummary']}"
        for one in found["violations"]
        for target in one["nodes"]
    ]


def look(page: Page, path: str, text: str) -> list[str]:
    page.evaluate("path => { window.location.hash = path }", path)
    expect(page.get_by_text(text).first).to_be_visible()
    return [f"{path}: {violation}" for violation in violations(page)]


@pytest.mark.usefixtures("something_to_see")
@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["light", "dark"])
def test_every_page(open_page: OpenPage, dark: bool) -> None:
    page = open_page("/", dark=dark)
    assert [fault for path, text in PAGES.items() for fault in look(page, path, text)] == []


@pytest.mark.slow
@pytest.mark.usefixtures("something_to_see")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_opens_on_the_canvas(open_page: OpenPage, dark: bool) -> None:
    page = open_page(f"/pipelines/{NAME}", dark=dark)
    page.locator('.react-flow__node[data-id="warm_filter"]').click()
    expect(page.get_by_role("textbox", name="Condition")).to_be_visible()
    found = violations(page)
    for key in ("?", "ControlOrMeta+k", "n", "ControlOrMeta+Enter"):
        page.keyboard.press("Escape")
        page.locator(".react-flow__pane").click(position={"x": 20, "y": 20})
        page.keyboard.press(key)
        expect(page.get_by_role("dialog").first).to_be_visible()
        # What is behind a dialog cannot be reached while it is open.
        found += [f"{key}: {violation}" for violation in violations(page, "[role=dialog]")]
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    for tab in ("SQL", "Text", "Python"):
        page.get_by_text(tab, exact=True).click()
        expect(page.get_by_role("textbox", name=f"Pipeline as {tab}")).to_be_visible()
        found += [f"{tab}: {violation}" for violation in violations(page)]
    assert found == []
