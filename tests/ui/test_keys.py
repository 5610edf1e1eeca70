"""Keys belong to what has the focus: those pressed in a panel never edit the canvas."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect
from tests.ui.steps import OpenPage, config_of, drawer, make_from_text, node, saved, set_condition, settled

KEYED = "generator as numbers ! deduplicate value as once ! preview as small"
# One for each kind of harm: delete, delete and reconnect, cut, and dialogs that open.
HARMFUL = ("Backspace", "Delete", "ControlOrMeta+Backspace", "ControlOrMeta+x", "n", "r", "c", "?", "p")


def test_keys_pressed_in_a_form_leave_the_canvas_alone(open_page: OpenPage, api: httpx.Client) -> None:
    before = make_from_text(api, "form-keys", KEYED)
    page = open_page("/pipelines/form-keys")
    node(page, "once").click()
    add, remove = (
        drawer(page).get_by_role("button", name="Add to keys"),
        drawer(page).get_by_role("button", name="Remove Keys 2"),
    )
    add.focus()
    press_all(page)
    # Somebody who adds a value writes into it next.
    add.click()
    page.keyboard.type("npr?")
    settled(api, "form-keys", lambda draft: config_of(draft, "once")["keys"] == ["value", "npr?"])
    # The button that was pressed is gone: what follows still belongs to the form.
    remove.click()
    press_all(page)
    # Text in the panel takes no focus.
    drawer(page).get_by_role("heading", name="once").click()
    press_all(page)
    page.get_by_role("tab", name="Problems").focus()
    press_all(page)
    page.get_by_role("button", name="Deploy", exact=True).focus()
    for key in HARMFUL[:4]:
        page.keyboard.press(key)
    saved(page)
    assert settled(api, "form-keys", lambda draft: draft["document"] == before["document"])

    node(page, "once").click()
    page.keyboard.press("ControlOrMeta+Backspace")
    expect(node(page, "once")).to_have_count(0)


def press_all(page: Page) -> None:
    for key in HARMFUL:
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("tabpanel", name="Problems")).to_have_count(0)
    expect(node(page, "once")).to_be_visible()


def test_undo_outlives_a_deploy_that_is_refused_and_another_tab(open_page: OpenPage, api: httpx.Client) -> None:
    draft = make_from_text(api, "undo-lives", 'generator as numbers ! filter "value < 10" as small ! preview as shown')
    page = open_page("/pipelines/undo-lives")
    set_condition(page, "value < 20")
    saved(page)
    draft = settled(api, "undo-lives", lambda now: config_of(now, "small")["condition"] == "value < 20")
    # The same draft under another revision, as a deploy leaves it that was saved and then did not start.
    body = {"expected_revision": draft["revision"], "document": draft["document"], "layout": draft["layout"]}
    draft = api.put("/api/pipelines/undo-lives/draft", json=body).json()
    nodes = [
        {**one, "config": {"condition": "value < 30"}} if one["id"] == "small" else one
        for one in draft["document"]["nodes"]
    ]
    body = {"expected_revision": draft["revision"], "document": {**draft["document"], "nodes": nodes}}
    assert api.put("/api/pipelines/undo-lives/draft", json={**body, "layout": draft["layout"]}).status_code == 200
    expect(node(page, "small")).to_contain_text("value < 30")
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(node(page, "small")).to_contain_text("value < 20")
    undo.click()
    expect(node(page, "small")).to_contain_text("value < 10")
    expect(undo).to_be_disabled()
    saved(page)
