"""What follows from the plan of a chain alone: worked out once in a worker, and not with every micro-batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headrace.graph.schema import Schema
from headrace.operators import Catalogue
from headrace.operators.chain_crossings import Crossing, crossings, stage_of
from headrace.operators.serial_chain import ChainPlan

# In one worker. Another version of a pipeline, or of a plugin, is one more.
STAGES_KEPT = 64


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage of a chain, or all of its nodes. `schemas` has the columns that leave each node and each input."""

    number: int
    plan: ChainPlan
    schemas: Mapping[str, Schema]
    crossings: tuple[Crossing, ...]
    """The ways of its rows to later stages."""
    inputs: frozenset[int]
    """The inputs that have rows for it."""

    @property
    def output(self) -> Schema:
        return self.schemas[self.plan.nodes[-1].id]


@lru_cache(maxsize=STAGES_KEPT)
def planned_stage(plan: ChainPlan, number: int | None, catalogue: Catalogue) -> PlannedStage:
    """The catalogue must stay as it is. Without a number all nodes, which are in one stage, or run in one lane."""
    inside = plan if number is None else stage_of(plan, number, catalogue)
    leaving = () if number is None else tuple(way for way in crossings(plan, catalogue) if way.stage == number)
    inputs = frozenset(place for place in range(len(inside.inputs)) if inside.input_edges(place))
    return PlannedStage(number or 0, inside, inside.schemas(catalogue), leaving, inputs)
