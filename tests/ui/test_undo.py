"""Every kind of edit, undone to the beginning and done again to the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.ui.steps import (
    Draft,
    OpenPage,
    choose,
    click_wire,
    connect,
    draft_of,
    drop,
    make,
    middle_of_wire,
    node,
    port,
    set_condition,
    settled,
)

TEXT = "generator 5 as pasted ! preview as seen"


def press_on(page: Page, name: str, key: str) -> None:
    node(page, name).click()
    page.keyboard.press(key)


def choose_on(page: Page, name: str, key: str, text: str) -> None:
    node(page, name).click()
    choose(page, key, text)


def move(page: Page) -> None:
    """Drags a node by the mouse, away from every wire."""
    box = node(page, "small").bounding_box()
    assert box is not None
    x, y = box["x"] + 40, box["y"] + 12
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 24, y + 60, steps=4)
    page.mouse.move(x + 24, y + 120, steps=4)
    page.mouse.up()


def disconnect(page: Page) -> None:
    click_wire(page, "small", "out")
    page.keyboard.press("Delete")


def rename(page: Page, old: str, new: str) -> None:
    node(page, old).click()
    page.get_by_role("textbox", name="Name", exact=True).fill(new)
    page.keyboard.press("Enter")


def align(page: Page) -> None:
    node(page, "small").click()
    page.keyboard.press("ControlOrMeta+a")
    page.get_by_role("button", name="Top edges").click()


def paste(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", TEXT)
    page.locator(".react-flow__pane").click(position={"x": 10, "y": 10})
    page.keyboard.press("ControlOrMeta+v")


def import_text(page: Page) -> None:
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import a pipeline")
    dialog.get_by_label("Pipeline").fill(TEXT)
    dialog.get_by_role("button", name="Replace the pipeline").click()
    expect(dialog).to_be_hidden()


def drop_below(page: Page) -> None:
    x, y = port(page, "small", "left")
    drop(page, "Select", x, y + 160)


def insert(page: Page) -> None:
    """What follows makes room: the view is fitted to it."""
    drop(page, "Select", *middle_of_wire(page, "numbers", "small"))
    expect(node(page, "select_2")).to_be_visible()
    page.get_by_role("button", name="Fit to the window").click()


# One of each kind of edit, each a step of undo.
STEPS: dict[str, Callable[[Page], None]] = {
    "set": lambda page: set_condition(page, "value < 5"),
    "add": drop_below,
    "insert": insert,
    "delete and reconnect": lambda page: press_on(page, "select_2", "ControlOrMeta+Backspace"),
    "move": move,
    "nudge": lambda page: press_on(page, "small", "Alt+ArrowDown"),
    "align": align,
    "disconnect": disconnect,
    "connect": lambda page: connect(page, "small", "select_1"),
    "replace": lambda page: choose_on(page, "select_1", "r", "filter"),
    "duplicate": lambda page: press_on(page, "small", "ControlOrMeta+d"),
    "delete": lambda page: press_on(page, "out", "Delete"),
    "rename": lambda page: rename(page, "numbers", "counted"),
    "tidy": lambda page: press_on(page, "counted", "Shift+Alt+T"),
    "paste": paste,
    "import": import_text,
}


def drawn(draft: Draft) -> tuple[Any, ...]:
    """What a draft means and where its nodes stand; the order in which it lists them says nothing."""
    nodes = {node["id"]: node for node in draft["document"]["nodes"]}
    edges = {tuple(edge.values()) for edge in draft["document"]["edges"]}
    return nodes, edges, draft["layout"]


def is_drawn(expected: tuple[Any, ...], draft: Draft) -> bool:
    return drawn(draft) == expected


@pytest.mark.slow
def test_everything_can_be_undone_and_done_again(open_page: OpenPage, api: httpx.Client) -> None:
    make(api, "undone")
    page = open_page("/pipelines/undone", width=1440, height=900)
    expect(node(page, "small")).to_be_visible()
    states = [("nothing", drawn(draft_of(api, "undone")))]
    for name, edit in STEPS.items():
        edit(page)
        states.append((name, drawn(settled(api, "undone", lambda draft: drawn(draft) != states[-1][1], name))))
    undo, redo = page.get_by_role("button", name="Undo"), page.get_by_role("button", name="Redo")
    for name, expected in states[-2::-1]:
        undo.click()
        settled(api, "undone", partial(is_drawn, expected), f"undone until {name} {expected}")
    expect(undo).to_be_disabled()
    for name, expected in states[1:]:
        redo.click()
        settled(api, "undone", partial(is_drawn, expected), f"done again until {name} {expected}")
    expect(redo).to_be_disabled()
