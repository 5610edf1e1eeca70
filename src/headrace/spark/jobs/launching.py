"""Launching: from a pipeline and where its queries begin to its running queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.spark.chains.batch_signals import SignalsRecord
from headrace.spark.chains.orders import ChainRecord
from headrace.spark.compiling.chain_start import make_driver
from headrace.spark.compiling.recounting import Recounting, closing_times
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.beginning import Beginning
from headrace.spark.jobs.decisions import Decisions
from headrace.spark.jobs.events import EventBus
from headrace.spark.jobs.holds import QueryHold, release_holds
from headrace.spark.jobs.late_counts import LateCounts, stateful_nodes
from headrace.spark.jobs.progress import QueryProgress
from headrace.spark.jobs.query import QueryHome, RunningQuery, align, open_query, topics_of
from headrace.spark.jobs.query_figures import QueryFigures
from headrace.spark.jobs.query_signals import QuerySignals, position_of, released_by
from headrace.spark.jobs.sink import Committer, Shown
from headrace.spark.jobs.totals import TotalsFile
from headrace.spark.jobs.workplace import Workplace
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.tables import create_tables
from headrace.spark.session.liveness import named_loss
from headrace.spark.sources.signal_log import SignalLog
from headrace.spark.specs import Offsets, QueryTopics, TopicLocation
from headrace.spark.writing.checkpoint import Checkpoint
from headrace.spark.writing.commit import CommitLog, CommitRecord
from headrace.wire.client import Client


@dataclass(slots=True)
class Start:
    """How a job was started. Its restarts after failures go on, and a signal that stopped it still does."""

    beginnings: tuple[Beginning, ...] | None
    """None until it is launched: where its queries begin is decided only then."""
    until_end: bool
    code: Catalogue
    """The operators that it was started with: it keeps them through failures and restarts of Spark."""
    resumed: bool = False
    """Whether the version ran before a crash."""
    released: dict[str, dict[str, Offsets]] = field(default_factory=dict)
    """Query → where its sources stood when somebody started it."""
    shown: Shown | None = None


class Launching:
    """Makes the launchers of jobs. `begun` keeps where the queries of a pipeline began last."""

    def __init__(self, place: Workplace, decisions: Decisions, events: EventBus) -> None:
        self._place = place
        self._decisions = decisions
        self._events = events
        self.begun: dict[str, tuple[Beginning, ...]] = {}

    def launcher(self, validated: Validated, start: Start) -> Callable[[], list[RunningQuery]]:
        """Starts all queries of a pipeline."""

        def launch() -> list[RunningQuery]:
            own = Client(self._place.settings.bootstrap, client_id="headrace-engine")
            with named_loss(), start.code.active(), own as client:
                if start.beginnings is None:
                    start.beginnings = self._decided(validated, start)
                return self._start_queries(validated, client, start, start.beginnings)

        return launch

    def _decided(self, validated: Validated, start: Start) -> tuple[Beginning, ...]:
        """What other queries left is kept until the next start by hand. Raises EngineLost, and as `start`."""
        self._place.session()  # without Spark nothing is decided: it may take long
        decision = self._decisions.made(validated, start.code, resumed=start.resumed)
        self._decisions.write(decision)
        self.begun[validated.document.name] = decision.beginnings
        return decision.beginnings

    def _start_queries(
        self, validated: Validated, client: Client, start: Start, beginnings: Sequence[Beginning]
    ) -> list[RunningQuery]:
        with ExitStack() as undo:
            started: list[RunningQuery] = []
            names = {one.plan.name for one in beginnings}
            release_holds(self._place.settings.log_directory, validated.document.name, keep=names)
            for one in beginnings:
                running = self._start_query(validated, one, client, start)
                undo.callback(running.stop)
                started.append(running)
            undo.pop_all()
        return started

    def _start_query(self, validated: Validated, begun: Beginning, client: Client, start: Start) -> RunningQuery:
        plan = begun.plan
        home = QueryHome(validated.document.name, plan, self._place.jobs_directory)
        compilation = self._place.compilation(validated, {}, start.code)
        topics = topics_of(plan.sources, compilation)
        log = CommitLog(Client(self._place.settings.bootstrap, client_id=f"headrace-{home.name}"), home.name)
        try:
            last = open_query(home, log, begun)
            hold = QueryHold(topics, home.pipeline, plan.name)
            hold.place(last)
            released = start.released.setdefault(plan.name, released_by(last))
            ranges = {node: Range(begin, None, released.get(node, {})) for node, begin in last.starts.items()}
            chain_record = ChainRecord.from_json(last.chain)
            lane_count = chain_record.lane_count
            compilation = replace(
                compilation,
                ranges=ranges,
                lane_count=lane_count,
                checkpoint=home.checkpoint,
                opened_ms=last.time_ms,
            )
            create_tables(client, plan.tables)
            compiled = self._place.compiled(compilation, plan)
            chain = make_driver(compilation, plan, home.directory / "serial", until_end=start.until_end)
            if chain is not None:
                chain.sweep(chain_record)
            outputs = self._place.outputs(client, compiled, validated)
            spec = home.sink_spec(self._place.settings.bootstrap, outputs, compiled.shaping)
            totals = TotalsFile(home.directory, last.identity)
            reported = totals.reported(last)
            align(home, spec, last, again=reported.batch < last.batch)
            names = {node: location.topic for node, location in topics.items()}
            late = self._late_counts(validated, home, last.starts, start.code)
            ends = {**last.starts, **position_of(last)}
            progress = QueryProgress(plan, names, ends=ends, late=late, file=totals)
            progress.go_on(reported)
            if last.totals is not None:
                progress.figures = QueryFigures.from_json(last.batch, last.totals["tasks"])
            progress.figures.note_state(chain_record.manifest)
            signals = self._signals(validated, plan, topics, last, progress, code=start.code)
            committer = Committer(
                spec,
                log,
                chain,
                hold,
                signals,
                shown=start.shown,
                figures=progress.figures,
                reported=progress.reported,
            )
            return RunningQuery(home, compiled, committer, progress, until_end=start.until_end)
        except BaseException:
            log.close()
            raise

    def _late_counts(
        self, validated: Validated, home: QueryHome, starts: Mapping[str, Offsets], code: Catalogue
    ) -> LateCounts:
        plan = home.plan
        recounting = Recounting(
            lambda validated, ranges: self._place.compilation(validated, ranges, code, bounded=True),
            code,
            validated.document,
            starts,
            closing_times(plan, validated, code),
        )
        operators = stateful_nodes(plan, code)
        return LateCounts(plan.base.id, operators, recounting, Checkpoint(home.checkpoint))

    def _signals(
        self,
        validated: Validated,
        plan: QueryPlan,
        topics: Mapping[str, TopicLocation],
        last: CommitRecord,
        progress: QueryProgress,
        *,
        code: Catalogue,
    ) -> QuerySignals | None:
        """For a query that reads topics: only there signals have a place."""
        if not topics:
            return None
        document = validated.document
        read = QueryTopics({node: location.topic for node, location in topics.items()}, last.starts)
        signals = QuerySignals(
            SignalLog(next(iter(topics.values())), document.name, read),
            code,
            frozenset(node.id for node in document.nodes if node.id not in plan.members),
            lambda kind, details, node: self._events.publish(document.name, kind, details, node=node),
            lambda: {"query": plan.name, "nodes": progress.figures.by_node()},
            replace(SignalsRecord.from_json(last.signals), stopped_by=None),
        )
        progress.signals = signals.counts
        return signals
