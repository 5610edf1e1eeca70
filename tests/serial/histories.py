"""Micro-batches of one lane whose attempts are lost, torn or go on elsewhere: for tests of what its state holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from headrace.serial import NodeState, StateStore, Version, manifest_from_json, manifest_to_json
from headrace.testing import Crash, MemoryFiles

NODE, LANE = "node", 7
BATCH_STEP = 3  # Spark may leave numbers out.

fates = st.sampled_from(["commit", "commit", "commit", "lose", "tear", "restart", "other worker"])

_Model = TypeVar("_Model")
_Steps = TypeVar("_Steps")


def check_history(
    history: Sequence[tuple[_Steps, str]],
    model: _Model,
    changed: Callable[[NodeState, _Model, _Steps], _Model],
    check: Callable[[NodeState, _Model], None],
) -> None:
    """Before every micro-batch, and at last where nothing is in memory, state is what the model was at the last commit.

    `changed` takes the steps of a micro-batch into the state, and gives the model behind them as a new one.
    """
    files = MemoryFiles()
    stores = [StateStore(files), StateStore(files)]
    version, batch = Version(), 0
    for steps, fate in history:
        state = stores[0].load(NODE, LANE, version)
        check(state, model)
        after = changed(state, model, steps)
        files.tear = fate == "tear"
        try:
            written = stores[0].write(NODE, LANE, batch, state, version)
        except Crash:
            stores[0] = StateStore(files)
        else:
            files.tear = False
            if fate not in ("lose", "tear"):
                version, model = written, after
        batch += BATCH_STEP
        if fate == "restart":
            stores[0].sweep({NODE: {LANE: version}})
            stores[0] = StateStore(files)
        if fate == "other worker":
            stores.reverse()
        version = manifest_from_json(manifest_to_json({NODE: {LANE: version}}))[NODE][LANE]
    check(StateStore(files).load(NODE, LANE, version), model)
