"""State moved to another number of lanes: what a key has goes to the lane that its rows will go to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from headrace.errors import InvalidInput
from headrace.serial.chain import TIMERS
from headrace.serial.items import ALL_BUCKETS, StateItem, ValueState
from headrace.serial.key_hash import lane_of
from headrace.serial.keyed_rings import one_array
from headrace.serial.partitioning import Partitioning
from headrace.serial.state_file import Section
from headrace.serial.store import StateStore
from headrace.serial.versions import Manifest, Version
from headrace.serial.waiting_rows import PLAYED


def repartitioned(
    store: StateStore,
    manifest: Manifest,
    partitioning: Callable[[str], Partitioning],
    lane_count: int,
    batch: int,
) -> dict[str, dict[int, Version]]:
    """New files for all nodes, durable when this returns; the old ones stay. Returns the manifest that names them.
    `partitioning` tells for a node what its lanes are by.

    Where inputs have keys of their own, the state of an input has its port's name. Raises InvalidInput, that names the
    node, for state that belongs to no key.
    """
    made: dict[str, dict[int, Version]] = {}
    for node, lanes in manifest.items():
        states = [store.load(node, lane, version).claim_all() for lane, version in sorted(lanes.items())]
        shares = _shares(node, states, partitioning(node), lane_count)
        made[node] = {lane: store.write_whole(node, lane, batch, share) for lane, share in enumerate(shares) if share}
    return made


def _shares(
    node: str, states: Sequence[Mapping[str, StateItem]], partitioning: Partitioning, lane_count: int
) -> list[list[Section]]:
    """What each new lane gets."""
    shares: list[list[Section]] = [[] for _ in range(lane_count)]
    for name in dict.fromkeys(name for state in states for name in state):
        items = [state[name] for state in states if name in state]
        keys = partitioning.at_port(name).keys
        shared = _SHARED.get(name)
        tables = _by_key(node, name, items, keys, lane_count) if shared is None else [shared(items)] * lane_count
        for share, rows in zip(shares, tables, strict=True):
            if rows.num_rows:
                share.append(Section(name, items[0].kind, rows, ALL_BUCKETS, items[0].shape))
    return shares


def _by_key(
    node: str, name: str, items: Sequence[StateItem], keys: Sequence[str], lane_count: int
) -> Iterable[pa.Table]:
    tables = [rows for item in items if (rows := item.snapshot()) is not None]
    columns = tables[0].schema.names[: items[0].shape.get("keys", 0)]
    if missing := sorted(set(keys) - set(columns)):
        message = f"the state {name!r} is not kept by {', '.join(missing)}: nobody can tell whose it is"
        raise InvalidInput(message, node=node, hint="start with --reset, or keep it in a table by these columns")
    rows = pa.concat_tables(tables).combine_chunks()
    lanes = lane_of([one_array(rows[key]) for key in keys], lane_count)
    return [rows.take(np.flatnonzero(lanes == lane)) for lane in range(lane_count)]


def _timers(items: Sequence[StateItem]) -> pa.Table:
    """Every lane waits for all times: an operator that is called for nothing does nothing."""
    merged: dict[str, set[int]] = {}
    for value in _values(items):
        for clock, times in (value or {}).items():
            merged.setdefault(clock, set()).update(times)
    return _one_value({clock: sorted(times) for clock, times in merged.items()})


def _played(items: Sequence[StateItem]) -> pa.Table:
    """Rows that wait in any lane are not before the latest time."""
    return _one_value(max((value for value in _values(items) if value is not None), default=None))


def _values(items: Sequence[StateItem]) -> list[Any]:
    return [item.value for item in items if isinstance(item, ValueState)]


def _one_value(value: Any) -> pa.Table:
    whole = ValueState()
    whole.value = value
    table = whole.snapshot()
    if table is None:
        raise AssertionError("a value is in the first bucket")
    return table


# Values that belong to no key, and that all lanes get.
_SHARED: Mapping[str, Callable[[Sequence[StateItem]], pa.Table]] = {TIMERS: _timers, PLAYED: _played}
