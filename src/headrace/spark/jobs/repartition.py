"""The state of a stopped pipeline, spread over another number of lanes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from headrace.errors import Conflict, InvalidInput
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.serial import LocalFiles, Partitioning, StateStore
from headrace.serial.repartition import repartitioned
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.jobs.ledger import Ledger, read_ledger
from headrace.spark.jobs.query import QueryHome
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of
from headrace.spark.writing.commit import CommitLog, CommitRecord
from headrace.wire.client import Client

# One task a lane and micro-batch: more would only cost.
LANES_MAX = 1_024


@dataclass(frozen=True, slots=True)
class Repartitioned:
    """One query's chain: from how many lanes to how many."""

    query: str
    lanes_before: int
    lanes: int


def repartition(
    validated: Validated, catalogue: Catalogue, bootstrap: str, jobs_directory: Path, lane_count: int
) -> list[Repartitioned]:
    """For a pipeline that does not run: its next start goes on with that many lanes.

    All or nothing for each query: new files are durable before one commit record names them, and whoever ran the query
    meanwhile cannot commit any more. Raises InvalidInput for state that cannot be divided, Conflict.
    """
    if not 1 <= lane_count <= LANES_MAX:
        raise InvalidInput(f"{lane_count} lanes", valid=(f"1 to {LANES_MAX}",))
    found = []
    for plan in _kept(validated, catalogue, jobs_directory):
        chain = chain_of(plan, validated, catalogue)
        lanes = {} if chain is None else _lanes(chain, catalogue)
        if any(one.keys for one in lanes.values()):
            home = QueryHome(validated.document.name, plan, jobs_directory)
            log = CommitLog(Client(bootstrap, client_id=f"headrace-{home.name}"), home.name)
            with closing(log):
                found.append(_repartition_query(home, log, lanes, lane_count))
    if not found:
        hint = "lanes of chains with partitioned=as_topic are the topic's partitions"
        raise InvalidInput(f"no chain of {validated.document.name!r} is spread by key", hint=hint)
    return found


def _kept(validated: Validated, catalogue: Catalogue, jobs_directory: Path) -> list[QueryPlan]:
    """The queries under the names that they are kept under."""
    ledger = read_ledger(jobs_directory, validated.document.name) or Ledger()
    names = {entry.meaning.identity: entry.name for entry in ledger.current}
    plans = plan_queries(validated, catalogue)
    return [replace(plan, name=names.get(identity(plan), plan.name)) for plan in plans]


def _lanes(chain: ChainPlan, catalogue: Catalogue) -> dict[str, Partitioning]:
    """What the lanes of each node are by, in its own words."""
    stages = chain.stages(catalogue)
    found = {name: stage.lanes_of(name) for stage in stages for name in stage.nodes}
    return {name: lanes for name, lanes in found.items() if lanes is not None}


def _repartition_query(
    home: QueryHome, log: CommitLog, lanes: Mapping[str, Partitioning], lane_count: int
) -> Repartitioned:
    last = _last(home.plan, log)
    record = ChainRecord.from_json(last.chain)
    if record.lane_count is None:
        raise Conflict(f"query {home.name} has committed nothing yet", hint="start the pipeline first")
    done = Repartitioned(home.name, record.lane_count, lane_count)
    if lane_count != record.lane_count:
        store = StateStore(LocalFiles(home.directory / "serial"))
        manifest = repartitioned(store, record.manifest, lanes.__getitem__, lane_count, max(last.batch, 0))
        log.commit(replace(last, chain=replace(record, manifest=manifest, lane_count=lane_count).to_json()), {})
    return done


def _last(plan: QueryPlan, log: CommitLog) -> CommitRecord:
    log.create()
    last = log.last()
    if last is None:
        raise Conflict(f"the pipeline of {plan.name!r} was never started", node=plan.base.id)
    if last.identity != identity(plan):
        hint = "give the version that ran last"
        raise Conflict("the stored state belongs to another version of the pipeline", node=plan.base.id, hint=hint)
    return last
