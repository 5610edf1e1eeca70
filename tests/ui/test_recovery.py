"""What holds when the server or the connection does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect
from tests.ui.steps import OpenPage, condition_of, deploy, draft_of, make, node, saved, set_condition, stop

if TYPE_CHECKING:
    from tests.ui.conftest import Complaints, Up

RETURN_TIMEOUT_MS = 120_000
TYPED = "value < 123456789"
# A telephone at the edge of its network.
SLOW = {"offline": False, "latency": 600, "downloadThroughput": 60_000, "uploadThroughput": 20_000}
UNLIMITED = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

# Keeps every text that the state of the pipeline has while the page is open.
NOTE_STATES = """() => {
  window.states = [];
  const note = () => {
    for (const badge of document.querySelectorAll("[class*=Badge-label]"))
      if (!window.states.includes(badge.textContent)) window.states.push(badge.textContent);
  };
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""

pytestmark = pytest.mark.slow


@pytest.mark.timeout(600)
def test_a_killed_server_is_told_and_nothing_is_lost(
    open_page: OpenPage, up: Up, api: httpx.Client, complaints: Complaints
) -> None:
    make(api, "through-a-crash")
    deploy(api, "through-a-crash", draft_of(api, "through-a-crash")["revision"])
    page = open_page("/pipelines/through-a-crash")
    live = page.locator("g[data-live]").first
    figures = page.get_by_test_id("edge-figures").first
    expect(figures).to_be_visible(timeout=RETURN_TIMEOUT_MS)
    set_condition(page, "value < 3")
    saved(page)
    page.evaluate(NOTE_STATES)
    connection = page.get_by_role("status", name="Connection")
    with up.server_killed():
        expect(connection).to_contain_text("not reachable", timeout=RETURN_TIMEOUT_MS)
        expect(page.get_by_text("was running")).to_be_visible()
        expect(live).to_have_css("opacity", "0.45")
        expect(page.get_by_role("button", name="Start the latest version")).to_have_count(0)
        set_condition(page, "value < 4")
        expect(page.get_by_role("status", name="Draft")).to_contain_text("Not saved")
    expect(connection).to_be_empty(timeout=RETURN_TIMEOUT_MS)
    saved(page, RETURN_TIMEOUT_MS)
    up.wait_ready()
    assert condition_of(api, "through-a-crash") == "value < 4"
    expect(node(page, "small")).to_contain_text("value < 4")
    expect(page.get_by_text("running", exact=True).first).to_be_visible(timeout=RETURN_TIMEOUT_MS)
    expect(live).to_have_css("opacity", "1")
    assert "not started" not in page.evaluate("window.states"), "a pipeline that comes back is not to be started"
    stop(api, "through-a-crash")
    complaints.clear()  # the browser writes lost connections to the console


def test_a_slow_connection_loses_and_doubles_nothing(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "slowly")
    page = open_page("/")
    connection = page.context.new_cdp_session(page)
    connection.send("Network.enable")
    connection.send("Network.emulateNetworkConditions", SLOW)
    before = draft_of(api, "slowly")["revision"]
    page.evaluate("window.location.hash = '/pipelines/slowly'")
    expect(page.get_by_text("Loading slowly…")).to_be_visible()
    expect(node(page, "small")).to_be_visible(timeout=RETURN_TIMEOUT_MS)
    node(page, "small").click()
    field = page.get_by_role("textbox", name="Condition")
    field.fill("", timeout=RETURN_TIMEOUT_MS)
    field.press_sequentially(TYPED, delay=40)
    expect(page.get_by_role("status", name="Draft")).to_have_text("Saving…")
    expect(field).to_have_text(TYPED)
    saved(page, RETURN_TIMEOUT_MS)
    connection.send("Network.emulateNetworkConditions", UNLIMITED)
    draft = draft_of(api, "slowly")
    assert condition_of(api, "slowly") == TYPED
    assert len(draft["document"]["nodes"]) == 3
    # Keys that were pressed while a save was under way went together, not one by one.
    assert draft["revision"] - before < len(TYPED)
