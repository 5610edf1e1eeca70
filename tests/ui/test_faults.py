"""What fails is shown at its node, with its record, and with what can be done about it."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import expect
from tests.ui.steps import FIRST_ROWS_TIMEOUT_MS, OpenPage, config_of, deploy, make_from_text, node, settled

SOURCE = 'topic faulty schema="a INT, b INT"'


def test_a_failure_reddens_its_node_alone_and_offers_ways_out(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "faulty", "partitions": 1})
    for value in ('{"a": 1, "b": 0}', "nope"):
        assert api.post("/api/topics/faulty/messages", json={"value": value}).status_code == 201
    # Spark alone can compute this: its error names the expression.
    ratio = "regexp_replace(string(a div b), 'x', '') AS q"
    dividing = f'{SOURCE} as faulty ! select "{ratio}" as ratio ! preview as seen'
    reading = f'{SOURCE} bad_rows=fail as faulty ! filter "a > 0" as keep ! preview as seen'
    for name, text in (("divides", dividing), ("reads", reading)):
        deploy(api, name, make_from_text(api, name, text)["revision"])

    page = open_page("/pipelines/divides")
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("The job failed at ratio", timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(banner).to_contain_text("division by zero")
    expect(banner).not_to_contain_text("spark.sql")
    expect(banner).not_to_contain_text("try_divide")
    expect(node(page, "ratio").get_by_role("img", name="failed")).to_be_visible()
    for other in ("faulty", "seen"):
        expect(node(page, other).get_by_role("img", name="stopped")).to_be_visible()
    page.get_by_role("tab", name=re.compile("Problems 1")).click()
    expect(page.get_by_role("tabpanel", name=re.compile("Problems"))).to_contain_text("division by zero")

    page = open_page("/pipelines/reads")
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("The job failed at faulty", timeout=FIRST_ROWS_TIMEOUT_MS)
    banner.get_by_role("button", name="Send them to a dead-letter topic").click()
    draft = settled(api, "reads", lambda now: config_of(now, "faulty").get("dead_letter") == "faulty-bad")
    assert (config_of(draft, "faulty")["on_error"], draft["problems"]) == ("dead_letter", [])
    banner.get_by_role("link", name="Open at offset 1").click()
    rows = page.get_by_role("row").filter(has_text="nope")
    expect(rows).to_have_count(1)
    expect(page.get_by_role("textbox", name="Offset")).to_have_value("1")
