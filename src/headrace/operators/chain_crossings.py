"""The stages of a chain as chains of their own, and the rows that go from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headrace.graph.document import Edge
from headrace.operators.catalogue import Catalogue
from headrace.operators.chain_stages import Stage
from headrace.operators.serial_chain import ChainInput, ChainPlan
from headrace.serial import Partitioning

Inlets = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Rows of a node that go from its `stage` to these inlets of a later one, where they are in other lanes."""

    number: int
    source: str
    inlets: Inlets
    stage: int
    lanes: Partitioning | None


def divided(plan: ChainPlan, catalogue: Catalogue) -> ChainPlan:
    """The same chain with an input for each way in which rows of a node are brought to lanes."""
    stages = plan.stages(catalogue)
    inputs: list[ChainInput] = []
    for number, one in enumerate(plan.inputs):
        parts = _ways(plan.input_edges(number), stages)
        inputs += [one] if len(parts) == 1 else [replace(one, inlets=inlets) for inlets in parts]
    return replace(plan, inputs=tuple(inputs))


def crossings(plan: ChainPlan, catalogue: Catalogue) -> tuple[Crossing, ...]:
    """The ways of rows from one stage to later ones. Their numbers as inputs are those behind the chain's own."""
    stages = plan.stages(catalogue)
    found: list[Crossing] = []
    for number, stage in enumerate(stages):
        leading = [e for e in plan.edges if e.source in stage.nodes and e.target not in stage.nodes]
        for source in dict.fromkeys(edge.source for edge in leading):
            for inlets, lanes in _ways([edge for edge in leading if edge.source == source], stages).items():
                found.append(Crossing(len(plan.inputs) + len(found), source, inlets, number, lanes))
    return tuple(found)


def stage_of(plan: ChainPlan, number: int, catalogue: Catalogue) -> ChainPlan:
    """One stage as a chain. Its inputs are those of the whole chain, and behind them what crosses from one stage to
    another: so an input has one number in all of them."""
    stages = plan.stages(catalogue)
    if len(stages) == 1:
        return plan
    nodes = tuple(node for node in plan.nodes if node.id in stages[number].nodes)
    edges = tuple(edge for edge in plan.edges if edge.target in stages[number].nodes)
    schemas, steps = plan.schemas(catalogue), {step.node: step for step in plan.steps(catalogue)}
    between = [
        ChainInput(one.source, schemas[one.source], one.inlets, steps[one.source].lag_behind_us)
        for one in crossings(plan, catalogue)
    ]
    return ChainPlan(nodes, (*plan.inputs, *between), edges, plan.tables)


def _ways(edges: Sequence[Edge], stages: Sequence[Stage]) -> dict[Inlets, Partitioning | None]:
    """The inlets that edges lead to, those together that rows are brought to in one way, and which that is."""
    ways: dict[tuple[int, Partitioning | None], list[Edge]] = {}
    for edge in edges:
        place = next(place for place, stage in enumerate(stages) if edge.target in stage.nodes)
        ways.setdefault((place, stages[place].lanes_at(edge)), []).append(edge)
    return {tuple((e.target, e.target_port) for e in together): lanes for (_, lanes), together in ways.items()}
