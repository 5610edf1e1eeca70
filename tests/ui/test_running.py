"""Pipelines that run: templates with one press, rows behind operators with state, and a failure with its record."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect
from tests.ui.steps import (
    FIRST_ROWS_TIMEOUT_MS,
    OpenPage,
    click_wire,
    deploy,
    drawer,
    make_from_text,
    node,
    rows_flow,
    stop,
)

TEMPLATES = ["Clickstream sessions", "Drone telemetry", "IoT anomaly", "Log triage", "Trades"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.mark.parametrize("title", TEMPLATES)
def test_a_template_runs_with_one_press(open_page: OpenPage, api: httpx.Client, title: str) -> None:
    page = open_page("/")
    page.get_by_role("button", name=f"Run {title}").click()
    name = title.lower().replace(" ", "-")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    rows_flow(page)
    stop(api, name)


def test_rows_behind_an_operator_with_state_can_be_seen_before_it_ever_ran(
    open_page: OpenPage, api: httpx.Client
) -> None:
    window = 'length-window 3 aggregates=["count(*) AS seen"] as window'
    make_from_text(api, "trial", f"generator 5 as made ! {window} ! to-topic seen as out")
    page = open_page("/pipelines/trial")
    click_wire(page, "window", "out")
    rows = drawer(page).get_by_role("table", name="Newest events").get_by_role("row")
    expect(rows.nth(1)).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(rows.nth(0)).to_contain_text("seen")
    expect(rows.nth(1)).to_contain_text("3")
    expect(drawer(page)).to_contain_text("state begin with them")


def test_a_failed_job_shows_where_why_and_with_which_record(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "divisors", "partitions": 1})
    for value in (5, 0, 7):
        api.post("/api/topics/divisors/messages", json={"value": f'{{"value": {value}}}'})
    divide = "python headrace.operators.samples:reciprocal as divide"
    text = f'topic divisors schema="value BIGINT" as numbers ! {divide} ! to-topic shares as out'
    deploy(api, "failing", make_from_text(api, "failing", text)["revision"])
    page = open_page("/pipelines/failing")
    alert = page.get_by_role("alert").filter(has_text="The job failed at divide")
    expect(alert).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(alert).to_contain_text("ZeroDivisionError")
    expect(alert.get_by_label("The record at fault")).to_contain_text(re.compile(r'"value": 0\b'))
    expect(node(page, "divide").get_by_role("img", name="failed")).to_be_visible()
    expect(node(page, "numbers").get_by_role("img", name="stopped")).to_be_visible()
    alert.get_by_role("button", name="Show divide").click()
    page.get_by_role("tab", name="Metrics").click()
    expect(drawer(page)).to_contain_text("The job failed here")
