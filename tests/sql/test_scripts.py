"""Whatever script people write, printing what it means and reading that gives the same pipeline."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.operators.catalogue import Catalogue
from headrace.sql import parse, print_sql

CATALOGUE = Catalogue()
DEPTH_MAX = 2
HEAD = """\
CREATE STREAM t (k STRING, v DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM u (k STRING, w DOUBLE, v DOUBLE, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5' SECOND);
CREATE STREAM o;
"""
WINDOWS = (
    "TUMBLING(1m)", "SLIDING(10m, 2m)", "CUMULATE(10m, 2m)", "SESSION(30s)", "LENGTH(5)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    """A query in SQL, the names of its columns, and whether its rows have an event time."""

    sql: str
    columns: tuple[str, ...]
    has_time: bool


STREAMS = (Written("t", ("k", "v", "ts"), has_time=True), Written("u", ("k", "w", "v", "at"), has_time=True))


@st.composite
def sources(draw: st.DrawFn, depth: int) -> Written:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(STREAMS))
    inner = draw(queries(depth - 1))
    return Written(f"({inner.sql}) AS d", inner.columns, inner.has_time)


@st.composite
def queries(draw: st.DrawFn, depth: int = DEPTH_MAX) -> Written:
    source = draw(sources(depth))
    condition = " WHERE v > 1" if "v" in source.columns and draw(st.booleans()) else ""
    if source.has_time and "v" in source.columns and draw(st.booleans()):
        return draw(windowed(source, condition))
    return draw(selected(source, condition))


@st.composite
def selected(draw: st.DrawFn, source: Written, condition: str) -> Written:
    if draw(st.booleans()):
        return Written(f"SELECT * FROM {source.sql}{condition}", source.columns, source.has_time)
    kept = draw(st.lists(st.sampled_from(source.columns), min_size=1, unique=True))
    items = [*kept, "v * 2 AS twice"] if "v" in source.columns and "twice" not in source.columns else kept
    names = tuple(item.rpartition(" ")[2] for item in items)
    has_time = source.has_time and ("ts" in kept or "at" in kept)
    return Written(f"SELECT {', '.join(items)} FROM {source.sql}{condition}", names, has_time)


@st.composite
def windowed(draw: st.DrawFn, source: Written, condition: str) -> Written:
    keys = ["k"] if "k" in source.columns and draw(st.booleans()) else []
    having = " HAVING max(v) > 3" if draw(st.booleans()) else ""
    window = draw(st.sampled_from(WINDOWS if not having else WINDOWS[:-1]))
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    columns = [*keys, "count(*) AS n", "avg(v) AS mean"]
    sql = f"SELECT {', '.join(columns)} FROM {source.sql}{condition}{group} WINDOW {window}{having}"
    return Written(sql, (*keys, "n", "mean"), has_time=False)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Views that read each other, and what is written in the end."""
    query = draw(queries())
    shapes = (
        f"INSERT INTO o {query.sql};",
        f"CREATE STREAM s AS {query.sql};",
        f"CREATE VIEW x AS {query.sql}; INSERT INTO o SELECT * FROM x;",
        f"INSERT INTO o WITH x AS ({query.sql}), y AS (SELECT * FROM x) SELECT * FROM y;",
        f"CREATE STREAM s AS {query.sql}; INSERT INTO o SELECT {query.columns[-1]} FROM s;",
    )
    return HEAD + draw(st.sampled_from(shapes))


@given(scripts())
@settings(max_examples=30, deadline=None)
def test_a_script_means_what_its_printed_form_means(script: str) -> None:
    document = parse(script, catalogue=CATALOGUE)
    printed = print_sql(document, catalogue=CATALOGUE)
    assert parse(printed, catalogue=CATALOGUE) == document
    assert " => " not in printed
