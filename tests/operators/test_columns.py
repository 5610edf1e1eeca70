from __future__ import annotations

from hypothesis import given

from headrace.graph import Document, parse_text, validate
from headrace.graph.testing import documents
from headrace.operators import Catalogue, used_columns
from headrace.operators.system_columns import SYSTEM_NAMES

CATALOGUE = Catalogue()
SOURCE = 'topic fleet schema="Drone STRING, battery DOUBLE, ts TIMESTAMP, note STRING" as fleet'


def used(text: str) -> frozenset[str]:
    return used_columns(parse_text(text, CATALOGUE), CATALOGUE)["fleet"]


def test_a_sink_needs_everything_that_reaches_it() -> None:
    assert used(f"{SOURCE} ! preview") == {"Drone", "battery", "ts", "note"}
    assert used(f"{SOURCE} ! select * ! preview") == {"Drone", "battery", "ts", "note"}
    assert used(f'{SOURCE} ! filter "battery < 1" ! select drone ! preview') == {"Drone", "battery"}


def test_what_a_later_select_drops_is_not_read() -> None:
    assert used(f"{SOURCE} ! select * ! select battery ! preview") == {"battery"}
    assert used(f'{SOURCE} ! select drone "battery AS b" ! select drone ! preview') == {"Drone", "battery"}


def test_branches_are_added_up() -> None:
    assert used(f"{SOURCE} ! select drone ! preview\n@fleet ! select note ! preview") == {"Drone", "note"}


def test_windows_read_their_keys_time_and_aggregates() -> None:
    timed = SOURCE.replace(" as fleet", " event_time=ts as fleet")
    window = 'tumbling-window 10s time=ts keys=drone aggregates="count(*) AS n"'
    assert used(f"{timed} ! {window} ! preview") == {"Drone", "ts"}
    assert used(f"{timed} ! select note ! preview") == {"note", "ts"}


def test_system_columns_are_read_where_they_are_named() -> None:
    assert used(f'{SOURCE} ! filter "_OFFSET > 5" ! select note ! preview') == {"_offset", "note"}
    assert used(f'{SOURCE} ! select "_key AS key" "key AS again" ! preview') == {"_key"}
    assert used(f"{SOURCE.replace(' as', ' event_time=_timestamp as')} ! select note ! preview") == {
        "_timestamp",
        "note",
    }


@given(documents())
def test_only_columns_that_a_source_has_are_asked_of_it(document: Document) -> None:
    schemas = validate(document, CATALOGUE).schemas
    for node_id, names in used_columns(document, CATALOGUE).items():
        assert names <= {*schemas[node_id].names, *SYSTEM_NAMES}
