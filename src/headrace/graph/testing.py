"""Random pipelines that can run, for property tests (needs hypothesis).

Documents are canonical: no setting is spelled out that has its default value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.schema import Column, Schema, backquoted, quoted

MAX_SOURCES = 2
MAX_STEPS = 5

_RESERVED = ("select",)
_NAMES = ("drone", "battery", "altitude", "ts", "seen", "note", "Zone_2", "we ird", "straße", *_RESERVED)
_TYPES = ("STRING", "DOUBLE", "INT", "BIGINT", "BOOLEAN", "TIMESTAMP", "DECIMAL(10,2)", "ARRAY<INT>", "STRUCT<a:INT>")
_DURATIONS = ("1 second", "1500 milliseconds", "1 minute", "90 seconds", "2 hours")
_NUMBERS = ("DOUBLE", "INT", "BIGINT")

_words = st.from_regex(r"x[a-z0-9_]{0,8}", fullmatch=True)  # the x keeps them apart from the words of SQL
_topics = st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True).filter(lambda name: name not in (".", ".."))
_ids = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,10}", fullmatch=True)
_texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
_quotable = st.text(st.sampled_from('aB 1!;#@="[]{}.,-ü'), max_size=6)


def _in_sql(name: str) -> str:
    return backquoted(name) if name in _RESERVED else quoted(name)


@dataclass(frozen=True, slots=True)
class _Stream:
    """A node that others can follow, with what is known of its rows."""

    node: str
    columns: tuple[Column, ...]
    event_time: str | None = None

    def of(self, *types: str) -> list[Column]:
        return [column for column in self.columns if column.type in types]


class _Growing:
    """A document under construction, one drawn step at a time."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.streams: list[_Stream] = []

    def add(self, operator: str, config: dict[str, Json], after: _Stream | None = None) -> str:
        node_id = self._new_id(operator)
        self.nodes.append(Node(node_id, operator, config))
        if after is not None:
            self.edges.append(Edge(after.node, node_id))
        return node_id

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def _new_id(self, operator: str) -> str:
        """Sometimes what a notation would choose itself, sometimes a name of its own."""
        plain = f"{operator.replace('-', '_')}_{self.draw(st.integers(1, 3))}"
        node_id = plain if self.chance() else self.draw(_ids)
        while node_id in {node.id for node in self.nodes}:
            node_id += "x"
        return node_id


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Columns of many types, some with names that need quotes."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=6, unique=True))
    return Schema(tuple(Column(name, draw(st.sampled_from(_TYPES))) for name in names))


@st.composite
def documents(draw: st.DrawFn, *, max_sources: int = MAX_SOURCES, max_steps: int = MAX_STEPS) -> Document:
    """Valid documents over the built-in operators, with branches and several sources."""
    growing = _Growing(draw)
    for _ in range(draw(st.integers(1, max_sources))):
        draw(st.sampled_from((_topic, _topic, _generator, _file, _trigger)))(growing)
    for _ in range(draw(st.integers(0, max_steps))):
        stream = draw(st.sampled_from(growing.streams))
        draw(st.sampled_from((_filter, _select, _window, _lookup)))(growing, stream)
    followed = {edge.source for edge in growing.edges}
    for stream in growing.streams:
        if stream.node not in followed or draw(st.integers(0, 3)) == 0:
            draw(st.sampled_from((_to_topic, _to_topic, _to_table, _to_file, _preview)))(growing, stream)
    return Document(draw(_words), tuple(growing.nodes), tuple(growing.edges))


def _event_time(growing: _Growing, columns: tuple[Column, ...], config: dict[str, Json]) -> str | None:
    times = [column.name for column in columns if column.type == "TIMESTAMP"]
    if not times or not growing.chance():
        return None
    event_time = growing.draw(st.sampled_from(times))
    config["event_time"] = event_time
    if growing.chance():
        config["watermark"] = growing.draw(st.sampled_from(_DURATIONS))
    return event_time


def _topic(growing: _Growing) -> None:
    draw, schema = growing.draw, growing.draw(schemas())
    config: dict[str, Json] = {"topic": draw(_topics), "schema": str(schema)}
    event_time = _event_time(growing, schema.columns, config)
    if growing.chance():
        config["format"] = draw(st.sampled_from(("csv", "arrow"))) if _is_flat(schema) else "arrow"
    if event_time is not None and config.get("format") != "arrow" and growing.chance():
        config["event_time_format"] = draw(st.sampled_from(("epoch_seconds", "dd.MM.yyyy HH:mm", "yyyy-MM-dd'T'HHX")))
    if growing.chance():
        config["start"] = draw(st.sampled_from(("latest", "offset:17", "timestamp:2026-01-31T12:00:00+00:00")))
    if growing.chance():
        config |= draw(
            st.sampled_from(
                ({"on_error": "fail"}, {"on_error": "retry"}, {"on_error": "dead_letter", "dead_letter": "bad"})
            )
        )
    if growing.chance():
        config["max_rows_per_batch"] = draw(st.integers(1, 10**9).filter(lambda count: count != 1_000_000))
    growing.streams.append(_Stream(growing.add("topic", config), schema.columns, event_time))


def _is_flat(schema: Schema) -> bool:
    """Whether CSV can hold the columns."""
    return not any(column.type.startswith(("ARRAY", "STRUCT")) for column in schema)


def _generator(growing: _Growing) -> None:
    columns = (Column("value", "BIGINT"), Column("timestamp", "TIMESTAMP"))
    config: dict[str, Json] = {}
    if growing.chance():
        config["columns"] = ["value % 7 AS drone", "timestamp"]
        columns = (Column("drone", "BIGINT"), Column("timestamp", "TIMESTAMP"))
    if growing.chance():
        config["rows_per_second"] = growing.draw(st.integers(11, 100_000))
    if growing.chance():
        config["rows"] = growing.draw(st.integers(1, 10_000))
    event_time = _event_time(growing, columns, config)
    growing.streams.append(_Stream(growing.add("generator", config), columns, event_time))


def _trigger(growing: _Growing) -> None:
    told: tuple[dict[str, Json], ...] = (
        {},
        {"every": growing.draw(st.sampled_from(_DURATIONS))},
        {"cron": "*/5 * * * MON"},
    )
    config = growing.draw(st.sampled_from(told))
    if growing.chance():
        config = {**config, "missed": "last"}
    columns = (Column("triggered_at", "TIMESTAMP"),)
    growing.streams.append(_Stream(growing.add("trigger", config), columns, "triggered_at"))


def _file(growing: _Growing) -> None:
    draw, schema = growing.draw, growing.draw(schemas())
    config: dict[str, Json] = {"path": draw(_texts), "schema": str(schema)}
    if growing.chance():
        config |= draw(st.sampled_from(({"format": "parquet"}, {"format": "csv"}, {"format": "csv", "header": False})))
    event_time = _event_time(growing, schema.columns, config)
    growing.streams.append(_Stream(growing.add("file", config), schema.columns, event_time))


def _condition(growing: _Growing, stream: _Stream) -> str:
    column = growing.draw(st.sampled_from(stream.columns))
    name = _in_sql(column.name)
    if column.type in _NUMBERS and growing.chance():
        return f"{name} {growing.draw(st.sampled_from(('<', '>=', '=')))} {growing.draw(st.integers(0, 99))}"
    if column.type == "STRING" and growing.chance():
        return f"{name} = '{growing.draw(_quotable)}'"
    return f"{name} IS NOT NULL"


def _filter(growing: _Growing, stream: _Stream) -> None:
    condition = _condition(growing, stream)
    if growing.chance():
        condition = f"{condition} OR NOT ({_condition(growing, stream)})"
    node = growing.add("filter", {"condition": condition}, stream)
    growing.streams.append(replace(stream, node=node))


def _select(growing: _Growing, stream: _Stream) -> None:
    draw = growing.draw
    kept = draw(st.lists(st.sampled_from(stream.columns), min_size=1, max_size=4, unique=True))
    items, columns = [_in_sql(column.name) for column in kept], list(kept)
    if growing.chance():
        items, columns = ["*"], list(stream.columns)
    taken = {column.name.lower() for column in columns}
    number = next(iter(stream.of(*_NUMBERS)), None)
    name = draw(_words)
    while name in taken:
        name += "x"
    if number is not None and growing.chance():
        items.append(f"{_in_sql(number.name)} * 2 AS {_in_sql(name)}")
        columns.append(Column(name, number.type))
    node = growing.add("select", {"columns": list(items)}, stream)
    keeps_time = any(column.name == stream.event_time for column in columns)
    growing.streams.append(_Stream(node, tuple(columns), stream.event_time if keeps_time else None))


def _window(growing: _Growing, stream: _Stream) -> None:
    if stream.event_time is None:
        return
    draw = growing.draw
    config: dict[str, Json] = {"size": draw(st.sampled_from(_DURATIONS)), "time": stream.event_time}
    keys = [column for column in stream.of("STRING", "INT", "BIGINT") if growing.chance()]
    if keys:
        config["keys"] = [column.name for column in keys]
    made = [Column("row_count", "BIGINT")]
    aggregates = ["count(*) AS row_count"]
    for column in stream.of("DOUBLE", "INT"):
        aggregates.append(f"avg({_in_sql(column.name)}) AS average_{len(aggregates)}")
        made.append(Column(f"average_{len(made)}", "DOUBLE"))
    config["aggregates"] = list(aggregates)
    if growing.chance():
        config["emit"] = "changes"
    bounds = (Column("_window_start", "TIMESTAMP"), Column("_window_end", "TIMESTAMP"))
    node = growing.add("tumbling-window", config, stream)
    growing.streams.append(_Stream(node, (*bounds, *keys, *made)))


def _lookup(growing: _Growing, stream: _Stream) -> None:
    keys = stream.of("STRING")
    if not keys or any(column.name.startswith("of_table") for column in stream.columns):
        return
    found = (Column("of_table_id", "STRING"), Column("of_table_note", "STRING"))
    config: dict[str, Json] = {"topic": growing.draw(_topics), "schema": str(Schema(found)), "key": found[0].name}
    table = growing.add("table", config)
    key = _in_sql(growing.draw(st.sampled_from(keys)).name)
    kind = growing.draw(st.sampled_from(("inner", "left", "semi", "anti", "not_in")))
    told: dict[str, Json] = {} if kind == "inner" else {"kind": kind}
    node = growing.add("lookup-join", {"on": f"left.{key} = right.of_table_id", **told})
    growing.edges += [Edge(stream.node, node, "out", "left"), Edge(table, node, "out", "right")]
    added = found if kind in ("inner", "left") else ()
    growing.streams.append(_Stream(node, (*stream.columns, *added), stream.event_time))


def _to_table(growing: _Growing, stream: _Stream) -> None:
    keys = stream.of("STRING", "INT", "BIGINT")
    if not keys:
        _to_topic(growing, stream)
        return
    config: dict[str, Json] = {"topic": growing.draw(_topics), "key": growing.draw(st.sampled_from(keys)).name}
    if growing.chance():
        config["mode"] = "delete"
    if growing.chance():
        config["partitions"] = growing.draw(st.integers(1, 64))
    growing.add("to-table", config, stream)


def _to_topic(growing: _Growing, stream: _Stream) -> None:
    config: dict[str, Json] = {"topic": growing.draw(_topics)}
    keys = stream.of("STRING", "INT", "BIGINT")
    if keys and growing.chance():
        config["key"] = growing.draw(st.sampled_from(keys)).name
    if growing.chance():
        config["partitions"] = growing.draw(st.integers(1, 64))
    if "key" not in config and growing.chance():
        config["format"] = "arrow"
    growing.add("to-topic", config, stream)


def _to_file(growing: _Growing, stream: _Stream) -> None:
    config: dict[str, Json] = {"path": growing.draw(_texts)}
    if growing.chance():
        config["format"] = "parquet"
    growing.add("to-file", config, stream)


def _preview(growing: _Growing, stream: _Stream) -> None:
    growing.add("preview", {"rows": growing.draw(st.integers(1, 99))} if growing.chance() else {}, stream)
