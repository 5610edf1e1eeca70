"""Pipelines that run: templates with one press, rows behind operators with state, and a failure with its record."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import expect
from tests.ui.conftest import wait_until
from tests.ui.steps import (
    FIRST_ROWS_TIMEOUT_MS,
    OpenPage,
    click_wire,
    deploy,
    draft_of,
    drawer,
    make_from_text,
    node,
    rows_flow,
    stop,
)

DIVIDE = "python headrace.operators.samples:reciprocal as divide"
TEMPLATES = ["Clickstream sessions", "Drone telemetry", "IoT anomaly", "Log triage", "Trades"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.mark.parametrize("title", TEMPLATES)
def test_a_template_runs_with_one_press(open_page: OpenPage, api: httpx.Client, title: str) -> None:
    page = open_page("/")
    page.get_by_role("button", name=f"Run {title}").click()
    name = title.lower().replace(" ", "-")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    rows_flow(page)
    expect(page.get_by_role("button", name=re.compile("change"))).to_have_count(0)
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
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    drawer(page).get_by_role("button", name="Pause").click()
    drawer(page).get_by_role("button", name="Copy JSON").click()
    expect(drawer(page).get_by_role("button", name="Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))[0]["seen"] <= 3
    expect(drawer(page).get_by_role("button", name="Follow")).to_be_visible()
    drawer(page).get_by_role("textbox", name="Filter").fill("seen > 3")
    expect(drawer(page)).to_contain_text("None of the newest passes the filter", timeout=FIRST_ROWS_TIMEOUT_MS)
    drawer(page).get_by_role("tab", name="Schema").click()
    expect(drawer(page).get_by_role("row").filter(has_text="seen")).to_contain_text("BIGINT")


def test_a_failed_job_shows_where_why_and_with_which_record(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "divisors", "partitions": 1})
    for value in (5, 0, 7):
        api.post("/api/topics/divisors/messages", json={"value": f'{{"value": {value}}}'})
    text = f'topic divisors schema="value BIGINT" as numbers ! {DIVIDE} ! to-topic shares as out'
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


def send(api: httpx.Client, topic: str, value: int) -> None:
    assert api.post(f"/api/topics/{topic}/messages", json={"value": f'{{"value": {value}}}'}).status_code < 300


def test_a_pipeline_is_paused_and_resumed_by_a_key(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "held", "partitions": 1})
    text = 'topic held schema="value BIGINT" as numbers ! filter "value > 0" as some ! to-topic let-through as out'
    deploy(api, "pausing", make_from_text(api, "pausing", text)["revision"])
    page = open_page("/pipelines/pausing")
    state = node(page, "some").get_by_role("img", name=re.compile("running|paused"))
    expect(state).to_have_attribute("aria-label", "running", timeout=FIRST_ROWS_TIMEOUT_MS)
    page.keyboard.press("d")
    expect(state).to_have_attribute("aria-label", "paused", timeout=FIRST_ROWS_TIMEOUT_MS)
    send(api, "held", 1)
    expect(page.get_by_test_id("edge-figures").first).to_contain_text("lag 1")
    page.get_by_role("button", name="Resume the pipeline").click()
    expect(state).to_have_attribute("aria-label", "running", timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(page.get_by_test_id("edge-figures").last).to_contain_text("/s · 1", timeout=FIRST_ROWS_TIMEOUT_MS)
    stop(api, "pausing")


def has_committed(api: httpx.Client, pipeline: str) -> bool:
    return all(query["batch"] >= 0 for query in api.get(f"/api/jobs/{pipeline}").json()["queries"])


def test_a_change_of_state_asks_where_it_begins_and_stops_nothing(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "asked", "partitions": 1})
    send(api, "asked", 1)
    source = 'topic asked schema="value BIGINT, other BIGINT" as numbers'
    text = source + " ! deduplicate {key} as once ! to-topic answered as out"
    made = make_from_text(api, "asking", text.format(key="value"))
    deploy(api, "asking", made["revision"])
    wait_until(lambda: has_committed(api, "asking"), "the record is committed")
    started = api.get("/api/jobs/asking").json()["started_at"]
    body = {"expected_revision": draft_of(api, "asking")["revision"], "text": text.format(key="other")}
    assert api.put("/api/pipelines/asking/draft", json=body).status_code == 200
    page = open_page("/pipelines/asking")
    expect(node(page, "once")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    dialog = page.get_by_role("dialog", name="Deploy asking")
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_contain_text("the state of once would begin empty", timeout=FIRST_ROWS_TIMEOUT_MS)
    assert api.get("/api/jobs/asking").json()["started_at"] == started
    assert len(api.get("/api/pipelines/asking/versions").json()["versions"]) == 1
    dialog.get_by_label("Where this pipeline is").check()
    dialog.get_by_role("button", name="Deploy").click()
    wait_until(lambda: api.get("/api/jobs/asking").json()["version"] == 2, "version 2 runs")
    (began,) = api.get("/api/jobs/asking").json()["began"]
    assert (began["goes_on"], began["empty"]) == (False, ["once"])
    stop(api, "asking")


def test_a_version_that_fails_is_told_and_the_one_before_runs_again(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "with-zero", "partitions": 1})
    send(api, "with-zero", 0)
    source = 'topic with-zero schema="value BIGINT" as numbers'
    good = make_from_text(api, "going-back", f"{source} ! to-topic zeros as out")
    deploy(api, "going-back", good["revision"])
    wait_until(lambda: has_committed(api, "going-back"), "the record is committed")
    revision = draft_of(api, "going-back")["revision"]
    failing = {"expected_revision": revision, "text": f"{source} ! {DIVIDE} ! to-topic zeros as out"}
    assert api.put("/api/pipelines/going-back/draft", json=failing).status_code == 200
    page = open_page("/pipelines/going-back")
    expect(node(page, "divide")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    dialog = page.get_by_role("dialog", name="Deploy going-back")
    dialog.get_by_label("Forget state and offsets").check()
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_contain_text("reads again: 1 record of topic with-zero", timeout=FIRST_ROWS_TIMEOUT_MS)
    dialog.get_by_label("I have read what is forgotten").check()
    dialog.get_by_role("button", name="Deploy").click()
    expect(dialog).to_contain_text("Version 2 failed at divide", timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(dialog.get_by_label("The record at fault")).to_be_visible()
    dialog.get_by_role("button", name="Go back to version 1").click()
    wait_until(lambda: api.get("/api/jobs/going-back").json()["version"] == 1, "version 1 runs again")
    expect(node(page, "numbers").get_by_role("img", name="running")).to_be_visible(timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(node(page, "divide").get_by_role("img", name="running")).to_have_count(0)
    stop(api, "going-back")


def test_a_signal_to_one_node_closes_its_windows_and_its_fate_is_told(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "windowed", "partitions": 1})
    source = 'topic windowed schema="value BIGINT, at TIMESTAMP" event_time=at as numbers'
    window = 'time-window "1 day" time=at aggregates=["count(*) AS seen"] as window'
    draft = make_from_text(api, "signalled", f"{source} ! {window} ! to-topic closed as out")
    deploy(api, "signalled", draft["revision"])
    row = json.dumps({"value": 1, "at": datetime.now(UTC).isoformat()})
    assert api.post("/api/topics/windowed/messages", json={"value": row}).status_code < 300
    page = open_page("/pipelines/signalled")
    figures = page.get_by_test_id("edge-figures")
    expect(figures.first).to_contain_text("/s · 1", timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(figures.last).to_contain_text("/s · 0")
    node(page, "window").click()
    drawer(page).get_by_role("tab", name="Metrics").click()
    expect(drawer(page)).to_contain_text(re.compile(r"State on disk[1-9][\d.]* k?B"))
    drawer(page).get_by_role("tab", name="Events").click()
    drawer(page).get_by_role("button", name="Send").click()
    told = drawer(page).get_by_role("row").filter(has_text="close_window")
    expect(told).to_contain_text("fate handled", timeout=FIRST_ROWS_TIMEOUT_MS)
    expect(figures.last).to_contain_text("/s · 1", timeout=FIRST_ROWS_TIMEOUT_MS)
    stop(api, "signalled")
