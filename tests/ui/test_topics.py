"""Topics and consumer groups by hand: settings, browsing page by page, offsets set anew after a look."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
from confluent_kafka import Consumer, Producer, TopicPartition
from playwright.sync_api import expect
from tests.ui.steps import OpenPage

from headrace.kafka import Sender

if TYPE_CHECKING:
    from tests.ui.conftest import Up

MESSAGES = 120
PAGE_SIZE = 50
SEARCHED = 2_000


def fill(up: Up, api: httpx.Client, topic: str) -> None:
    assert api.post("/api/topics", json={"name": topic, "partitions": 1}).status_code < 300
    with Sender(up.info.bootstrap) as sender:
        for number in range(MESSAGES):
            sender.send(topic, f'{{"number": {number}, "parity": "{"odd" if number % 2 else "even"}"}}'.encode())


def test_messages_are_browsed_page_by_page_and_by_filter(open_page: OpenPage, up: Up, api: httpx.Client) -> None:
    fill(up, api, "browsed")
    page = open_page("/topics/browsed")
    rows = page.get_by_role("row").filter(has_text="number")
    expect(rows).to_have_count(PAGE_SIZE)
    expect(rows.first).to_contain_text(f'"number":{MESSAGES - 1}')
    for count in (2 * PAGE_SIZE, MESSAGES):
        page.get_by_role("button", name="Continue").click()
        expect(rows).to_have_count(count)
    page.get_by_label("Filter").fill('"parity": "odd"')
    page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(PAGE_SIZE)
    page.get_by_role("button", name="Continue").click()
    expect(rows).to_have_count(MESSAGES // 2)
    expect(page.get_by_text(f"{MESSAGES // 2} messages of {MESSAGES} looked at")).to_be_visible()


def test_a_setting_is_changed_and_put_back(open_page: OpenPage, api: httpx.Client) -> None:
    api.post("/api/topics", json={"name": "kept-shortly"})
    page = open_page("/topics/kept-shortly?view=settings")
    row = page.get_by_role("row", name=re.compile(r"^retention\.ms"))
    expect(row).to_contain_text("default")
    row.get_by_role("button", name="Change retention.ms").click()
    page.get_by_role("textbox", name="retention.ms").fill("3600000")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("1 hour")
    expect(row).not_to_contain_text("default")
    row.get_by_role("button", name="Change retention.ms").click()
    page.get_by_role("textbox", name="retention.ms").fill("soon")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The setting was not changed")).to_be_visible()
    row.get_by_role("button", name="Put retention.ms back").click()
    expect(row).to_contain_text("default")


def test_offsets_are_reset_only_after_a_look_at_what_changes(open_page: OpenPage, up: Up, api: httpx.Client) -> None:
    fill(up, api, "followed")
    commit(up, "followed", group="readers", offset=100)
    page = open_page("/topics/followed?view=groups")
    page.get_by_role("button", name="Offsets of readers").click()
    page.get_by_role("button", name="Reset offsets of followed…").click()
    dialog = page.get_by_role("dialog", name="Reset the offsets of readers")
    dialog.get_by_role("combobox", name="Read on from").click()
    page.get_by_role("option", name="An offset").click()
    dialog.get_by_label("Offset", exact=True).fill("42")
    dialog.get_by_role("button", name="Show what changes").click()
    expect(dialog.get_by_role("row").nth(1)).to_contain_text("42")
    assert committed(up, "followed", "readers") == 100
    dialog.get_by_role("button", name="Reset 1 partition").click()
    expect(dialog).to_be_hidden()
    assert committed(up, "followed", "readers") == 42
    expect(page.get_by_role("cell", name="78", exact=True).first).to_be_visible()


def consumer(up: Up, group: str) -> Consumer:
    return Consumer({"bootstrap.servers": up.info.bootstrap, "group.id": group, "log_level": 0})


def commit(up: Up, topic: str, *, group: str, offset: int) -> None:
    client = consumer(up, group)
    client.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    client.close()


def committed(up: Up, topic: str, group: str) -> int:
    client = consumer(up, group)
    (found,) = client.committed([TopicPartition(topic, 0)])
    client.close()
    return int(found.offset)


def test_a_search_goes_through_the_whole_topic_in_the_order_of_time(
    open_page: OpenPage, up: Up, api: httpx.Client
) -> None:
    assert api.post("/api/topics", json={"name": "searched", "partitions": 3}).status_code < 300
    producer = Producer({"bootstrap.servers": up.info.bootstrap, "log_level": 0})
    # The oldest that fits is in the partition that is read last.
    producer.produce("searched", b'{"needle": 0}', partition=2, timestamp=1_700_000_000_000)
    for number in range(3 * SEARCHED):
        filler = b'{"filler": %d}' % number
        producer.produce("searched", filler, partition=number % 3, timestamp=1_700_000_001_000 + number)
    producer.produce("searched", b'{"needle": 1}', partition=0, timestamp=1_700_000_900_000)
    assert producer.flush(30) == 0
    page = open_page("/topics/searched")
    page.get_by_label("Filter").fill("needle")
    page.get_by_role("combobox", name="Where to begin").click()
    page.get_by_role("option", name="Oldest first").click()
    page.get_by_role("button", name="Search").click()
    rows = page.get_by_role("row").filter(has_text="needle")
    expect(rows).to_have_count(2)
    expect(page.get_by_text(f"2 messages of {3 * SEARCHED + 2:,} looked at")).to_be_visible()
    expect(rows.first).to_contain_text('"needle":0')
    expect(rows.last).to_contain_text('"needle":1')
