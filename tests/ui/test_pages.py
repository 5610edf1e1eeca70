"""The pages around the canvas, in a real browser against the real stack."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]

SQL = """CREATE STREAM readings (sensor STRING, temperature DOUBLE) WITH (topic = 'readings', format = 'json');
CREATE STREAM warm AS SELECT sensor FROM readings WHERE temperature > {limit};"""


def save(api: httpx.Client, name: str, limit: int) -> None:
    answer = api.post("/api/pipelines", json={"sql": SQL.format(limit=limit), "name": name, "note": f"above {limit}"})
    assert answer.status_code < 300, answer.text


def test_a_topic_is_made_filled_read_and_deleted(open_page: OpenPage) -> None:
    page = open_page("/topics")
    page.get_by_role("button", name="New topic").click()
    page.get_by_label("Name").fill("by-hand")
    page.get_by_label("Partitions").fill("2")
    page.get_by_role("button", name="Make the topic").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("by-hand")

    page.get_by_role("tab", name="Produce").click()
    for number in (1, 2):
        page.get_by_label("Key").fill("k")
        page.get_by_label("Value").fill(f'{{"number": {number}}}')
        page.get_by_label("Headers").fill("trace: abc")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("status").filter(has_text=f"offset {number - 1}")).to_be_visible()

    page.get_by_role("tab", name="Messages").click()
    rows = page.get_by_role("row").filter(has_text="number")
    expect(rows).to_have_count(2)
    page.get_by_label("Filter").fill('"number": 2')
    page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Message 1 of").click()
    expect(page.get_by_text("trace")).to_be_visible()

    page.get_by_role("button", name="Delete…").click()
    confirm = page.get_by_role("button", name="Delete the topic")
    expect(confirm).to_be_disabled()
    page.get_by_label("Type by-hand to confirm").fill("by-hand")
    confirm.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    expect(page.get_by_role("link", name="by-hand")).to_have_count(0)


def test_versions_are_compared_and_restored(open_page: OpenPage, api: httpx.Client) -> None:
    save(api, "compared", 30)
    save(api, "compared", 40)
    page = open_page("/pipelines/compared/versions?old=1&new=2")
    changes = page.get_by_role("region", name="Changes")
    expect(changes.get_by_role("heading")).to_contain_text("1 change")
    expect(changes.get_by_role("listitem")).to_contain_text("40")
    for side in ("Version 1", "Version 2"):
        expect(page.get_by_role("region", name=side).get_by_text("changed")).to_be_visible()
    page.get_by_role("button", name="Restore version 1 into the draft").click()
    expect(page).to_have_url(re.compile("#/pipelines/compared$"))
    draft = api.get("/api/pipelines/compared/draft").json()
    assert [change["kind"] for change in draft["changes"]] == ["setting_changed"]


def test_sql_that_cannot_be_read_is_shown_with_its_place(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_role("button", name="From SQL").click()
    page.get_by_label("Name").fill("with-a-fault")
    page.get_by_role("textbox", name="SQL").fill("CREATE STREAM a AS SELECT x FRM b;")
    page.get_by_role("button", name="Open the canvas").click()
    expect(page.get_by_text("This SQL cannot be read")).to_be_visible()
    page.get_by_role("textbox", name="SQL").fill(SQL.format(limit=30))
    page.get_by_role("button", name="Open the canvas").click()
    expect(page).to_have_url(re.compile("#/pipelines/with-a-fault$"))


def test_a_pipeline_is_stopped_started_and_deleted_from_the_list(open_page: OpenPage, api: httpx.Client) -> None:
    save(api, "listed", 30)
    page = open_page("/")
    row = page.get_by_role("row").filter(has_text="listed")
    expect(row).to_contain_text("not started")
    row.get_by_role("button", name="Actions for listed").click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_label("Type listed to confirm").fill("listed")
    page.get_by_role("button", name="Delete the pipeline").click()
    expect(row).to_have_count(0)
    assert api.get("/api/pipelines/listed").status_code == 404


def test_schemas_are_read_and_their_compatibility_is_set(open_page: OpenPage, api: httpx.Client) -> None:
    field = '{"name": "sensor", "type": "string"}'
    for fields in (field, f'{field}, {{"name": "unit", "type": "string", "default": "C"}}'):
        schema = f'{{"type": "record", "name": "Reading", "fields": [{fields}]}}'
        answer = api.post("/api/registry/subjects/readings-value/versions", json={"schema": schema})
        assert answer.status_code == 200, answer.text
    page = open_page("/topics?view=schemas")
    page.get_by_role("button", name="Versions of readings-value").click()
    text = page.get_by_label("Schema of readings-value")
    expect(text).to_contain_text("unit")
    page.get_by_label("Version", exact=True).and_(page.locator("input")).click()
    page.get_by_role("option", name="1").click()
    expect(text).not_to_contain_text("unit")
    page.get_by_label("Compatibility").and_(page.locator("input")).click()
    page.get_by_role("option", name="FULL", exact=True).click()
    expect(page.get_by_label("Compatibility").and_(page.locator("input"))).to_have_value("FULL")
    level = api.get("/api/registry/config/readings-value", params={"defaultToGlobal": True}).json()
    assert level == {"compatibilityLevel": "FULL"}
