from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.errors import InvalidInput
from headrace.graph import UNKNOWN, Schema
from headrace.operators.projection import with_one_row_where
from headrace.operators.select import Select, SelectConfig
from headrace.operators.system_columns import SYSTEM_COLUMNS
from headrace.operators.testing import Trial

SCHEMA = replace(
    Schema.parse("drone STRING, battery DOUBLE, ts TIMESTAMP, tags ARRAY<STRING>, place STRUCT<x:INT>"),
    hidden=SYSTEM_COLUMNS,
    event_time="ts",
)


def output(*columns: str) -> Schema:
    return Select().output_schema(SelectConfig(columns=list(columns)), {"in": SCHEMA})


@pytest.mark.spark
def test_columns_are_chosen_computed_and_renamed(trial: Trial) -> None:
    items = '"* EXCEPT (timestamp)" "value * 2 AS twice" "twice + 1 AS more" "upper(\'a\') AS `we ird`"'
    assert trial.batch(f"generator rows=2 ! select {items} ! preview") == [(0, 0, 1, "A"), (1, 2, 3, "A")]


@pytest.mark.spark
def test_system_columns_are_left_out_of_the_star_and_of_sinks(trial: Trial) -> None:
    frame = trial.spark.createDataFrame([("a", 7, b"k")], "drone STRING, _offset BIGINT, _key BINARY")
    topics = Trial(trial.spark, topics={"fleet": frame})
    source = 'topic fleet schema="drone STRING"'
    assert topics.batch(f'{source} ! filter "_offset > 5" ! preview') == [("a",)]
    assert topics.batch(f'{source} ! select * "_offset AS position" ! preview') == [("a", 7)]


def test_the_schema_of_every_kind_of_item() -> None:
    found = output("drone", "battery / 100 AS share", "place.x", "my_function(drone) AS z", "explode(tags) tag")
    assert str(found) == f"drone STRING, share DOUBLE, x {UNKNOWN}, z {UNKNOWN}, tag {UNKNOWN}"
    assert output("* EXCEPT (tags, PLACE)", "_key AS key").names == ("drone", "battery", "ts", "key")


def test_event_time_goes_with_its_column() -> None:
    assert output("*").event_time == "ts"
    assert output("drone", "TS AS seen").event_time == "seen"
    assert output("drone", "ts", "ts AS seen").event_time == "ts"
    assert output("drone").event_time is None
    assert output("* EXCEPT (ts)", "date_trunc('hour', ts) AS ts").event_time is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["upper(drone)"], r"'upper\(drone\)' has no name"),
        (["drone", "battery AS Drone"], "'Drone' comes out twice"),
        (["*", "drone"], "comes out twice"),
        (["_key"], "'_key' is a system column"),
        (["drone AS _offset"], "is a system column"),
        (["dron"], "unknown column 'dron'"),
        (["twice + 1 AS more", "battery AS twice"], "unknown column 'twice'"),
        (["* EXCEPT (nothing)"], "unknown column 'nothing'"),
        (["* REPLACE (1 AS drone)"], "only EXCEPT"),
        (["sum(battery) AS total"], "cannot stand in a select"),
        (["posexplode(tags)"], "cannot stand in a select"),
        (["ts + true AS x"], "does not work with"),
    ],
)
def test_items_that_are_refused(columns: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        output(*columns)


def test_which_columns_are_read() -> None:
    def read(*columns: str) -> frozenset[str]:
        config = SelectConfig(columns=list(columns))
        return Select().used_columns(config, frozenset({"drone"}), {"in": SCHEMA})["in"]

    assert read("battery", "upper(drone) AS d") == {"battery", "drone"}
    assert read("*", "battery AS b") == {"drone", "battery"}


def test_one_row_at_a_time_or_not() -> None:
    def step(*columns: str) -> object:
        found = Select().row_step(SelectConfig(columns=list(columns)), SCHEMA.keep(("drone", "battery", "tags")))
        return found.columns if found else None

    assert step("* EXCEPT (tags)", "battery * 2 AS b") == (
        ("drone", "`drone`"), ("battery", "`battery`"), ("b", "battery * 2 AS b"),
    )  # fmt: skip
    assert step("explode(tags) AS tag") is None


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ("explode(tags) tag", "explode(if(x IS NULL, array(NULL), tags)) AS `tag`"),
        ("explode_outer(tags) AS tag", "explode_outer(tags) AS tag"),
        ("battery * 2 AS b", "battery * 2 AS b"),
        ("*", "*"),
    ],
)
def test_an_explode_can_be_made_to_keep_a_row(item: str, wanted: str) -> None:
    assert with_one_row_where("x IS NULL", item) == wanted
