"""Where the queries of a version begin: which go on from their last commit, and which would begin anew.

A pipeline that has commits never begins a query anew by itself: whoever starts it says where (`Begin`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from headrace.errors import HeadraceError, InvalidInput, NeedsBegin
from headrace.graph.document import Document
from headrace.graph.validation import Validated
from headrace.log import hold_owners
from headrace.operators import Catalogue
from headrace.spark.jobs.ledger import Entry, Ledger, folders, read_ledger
from headrace.spark.planning.meaning import Difference, Meaning, difference, renaming
from headrace.spark.planning.plan import QueryPlan, identity
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.runnable import runnable
from headrace.spark.reading.positions import lower, position_in
from headrace.spark.reading.starts import resolve_start
from headrace.spark.specs import Offsets, TopicLocation
from headrace.spark.writing.commit import OPENED, CommitLog, CommitRecord, commit_topic
from headrace.wire.client import Client

Begin: TypeAlias = Literal["latest", "last-commit", "earliest"]
BEGINS: Final[tuple[Begin, ...]] = get_args(Begin)
BEGIN_HINT: Final = (
    "choose where they begin: --begin latest | last-commit | earliest on the command line, "
    "BEGIN LATEST | LAST COMMIT | EARLIEST behind the SQL statement. latest skips what is not read yet; last-commit "
    "goes on where this pipeline is; earliest reads everything again, and its rows come twice"
)

Locate: TypeAlias = Callable[[str], TopicLocation]


def needs_begin(pipeline: str, queries: Sequence[Beginning]) -> NeedsBegin:
    """What to raise before anything is stopped, saved or started."""
    reasons = "\n".join(f"- {one.reason}" for one in queries)
    message = (
        f"pipeline {pipeline!r} cannot go on exactly with this version. Nothing was changed: "
        f"what runs goes on, and what is committed stays.\n{reasons}"
    )
    return NeedsBegin(message, valid=BEGINS, hint=BEGIN_HINT)


@dataclass(frozen=True, slots=True)
class Stored:
    """A query that has run: its name, its last commit, and what it meant, where that is known."""

    name: str
    record: CommitRecord | None
    meaning: Meaning | None
    entry: Entry | None = None

    @property
    def has_commits(self) -> bool:
        return self.record is not None and self.record.batch != OPENED

    @property
    def position(self) -> dict[str, Offsets]:
        """Where its sources stand, by node."""
        if self.record is None:
            return {} if self.entry is None else {node: dict(start) for node, start in self.entry.starts.items()}
        nodes = () if self.meaning is None else self.meaning.topics
        record = self.record.with_sources(nodes)
        return position_in(record.offsets, record.starts)

    @property
    def by_topic(self) -> dict[str, Offsets]:
        """The smallest offset of each partition, by topic."""
        found: dict[str, Offsets] = {}
        for node, offsets in self.position.items():
            topic = None if self.meaning is None else self.meaning.topics.get(node)
            if topic is not None:
                found[topic] = _lowest(found.get(topic, {}), offsets)
        return found


@dataclass(frozen=True, slots=True)
class Beginning:
    """One query of a wanted version. `plan` has the name that the query is kept under.

    With `stored` the query goes on from there, its nodes `renamed` (old id → new one). Without, it begins at `starts`,
    and the state of the nodes in `empty` begins empty; `differs` says what the nearest stored query has otherwise.
    """

    plan: QueryPlan
    stored: Stored | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, Offsets] = field(default_factory=dict)
    released: Mapping[str, Offsets] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    differs: Difference | None = None
    instead_of: str | None = None
    """The stored query that it takes the place of."""
    forgets: bool = False
    """Whether the pipeline has commits that it does not go on from."""
    again: Mapping[str, int] = field(default_factory=dict)
    """Topic → records that the pipeline has read and committed before, and that it reads again."""
    carried: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Stored query that ends → its nodes that are here now: their totals go on."""

    @property
    def goes_on(self) -> bool:
        return self.stored is not None

    @property
    def reason(self) -> str:
        """Why it does not go on, and what begins empty."""
        state = f"; {_listed('the state of', self.empty)} would begin empty" if self.empty else ""
        if self.differs is None or self.instead_of is None:
            nodes = ", ".join(node.id for node in self.plan.chain)
            return f"query {self.plan.name} is new, and has no commit (nodes {nodes}){state}"
        changes = "; ".join(self.differs.changes)
        return f"query {self.instead_of} has committed as another one: {changes}{state}"

    @property
    def summary(self) -> str:
        """One line for the answer of a start."""
        if self.goes_on:
            return f"query {self.plan.name} goes on from its last commit"
        places = [
            f"{self.topics[node]}-{partition} at {offset}"
            for node, offsets in self.starts.items()
            for partition, offset in sorted(offsets.items(), key=lambda one: int(one[0]))
        ]
        again = [f"; reads again {plural(count, 'record')} of {topic}" for topic, count in self.again.items() if count]
        empty = f"; {_listed('the state of', self.empty)} begins empty" if self.empty else ""
        return f"query {self.plan.name} begins with {', '.join(places) or 'its sources'}{''.join(again)}{empty}"

    @property
    def topics(self) -> dict[str, str]:
        return Meaning.of(self.plan).topics


@dataclass(frozen=True, slots=True)
class Succession:
    """The wanted queries of a pipeline against what is stored. Nothing is written by it."""

    pipeline: str
    ledger: Ledger
    stored: tuple[Stored, ...]
    beginnings: tuple[Beginning, ...]

    taken: frozenset[str]
    """Names that queries of the pipeline have or had."""

    @property
    def has_commits(self) -> bool:
        """Whether any of its queries has committed a micro-batch: one that only began has read and written nothing."""
        return any(one.has_commits for one in self.stored)

    @property
    def anew(self) -> tuple[Beginning, ...]:
        return tuple(one for one in self.beginnings if not one.goes_on)

    def last_commits(self, topic: str, *, highest: bool = False) -> Offsets:
        """The lowest (or highest) committed offset of the pipeline in each partition of a topic."""
        best: Callable[[int, int], int] = max if highest else min
        found: Offsets = {}
        for one in self.stored:
            for partition, offset in one.by_topic.get(topic, {}).items():
                found[partition] = best(offset, found.get(partition, offset))
        return found


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look for what a pipeline has stored. `versions` are other versions of it, newest first: asked where a
    stored query has no meaning of its own."""

    client: Client
    jobs_directory: Path
    log_directory: Path | None
    versions: Callable[[], Iterable[Document]]


def succession(
    validated: Validated, catalogue: Catalogue, places: Places, *, resumed: bool = False
) -> Succession:  # fmt: skip
    """Compares the queries of a version with the commits of its pipeline.

    With `resumed` the version ran before a crash: also queries that another version was about to replace go on.
    Raises InvalidGraph, ExternalFailure, CorruptData.
    """
    pipeline = validated.document.name
    plans = plan_queries(validated, catalogue)
    client, jobs_directory = places.client, places.jobs_directory
    ledger = read_ledger(jobs_directory, pipeline)
    if ledger is not None:
        stored = _listed_in(ledger, _records(client, pipeline, ledger.names), resumed=resumed)
    else:
        stored = _found(pipeline, places, plans, catalogue)
        known = tuple(Entry(one.name, one.meaning) for one in stored if one.meaning is not None)
        ledger = Ledger(current=known)
    taken = frozenset((*folders(jobs_directory, pipeline), *_commit_topics(client, pipeline), *ledger.names))
    return Succession(pipeline, ledger, stored, _matched(plans, stored, catalogue), taken)


def begun(
    found: Succession, locate: Locate, starts: Mapping[str, str], *, begin: Begin | None, reset: bool
) -> tuple[Ledger, tuple[Beginning, ...]]:
    """Every query with its place to begin, and the ledger that says so.

    `starts` is by source node: what its settings say. Raises NeedsBegin, NotFound (a topic), and InvalidInput for
    sources that cannot begin there.
    """
    # Where failing rows are written from is no decision: where the others are.
    undecided = tuple(one for one in found.anew if not one.plan.is_for_errors)
    if found.has_commits and not reset and begin is None and undecided:
        raise needs_begin(found.pipeline, undecided)
    is_late = found.has_commits and not reset and begin is None
    follows = [one for one in found.anew if is_late and one.plan.is_for_errors and one.topics]
    kept = {one.plan.name for one in found.beginnings if one.goes_on and not reset}
    unused = {one.name for one in found.stored if not one.has_commits} - kept
    ledger, taken, made = found.ledger, found.taken - unused, []
    for one in found.beginnings:
        opened = one
        if one.plan.name not in kept or not one.goes_on:
            name, ledger = ledger.named(own_name(one.plan), taken, unused)
            taken |= {name}
            place: Begin | None = "last-commit" if one in follows else begin
            opened = _begun(found, replace(one, stored=None, renamed={}), locate, starts, place)
            opened = replace(opened, plan=replace(one.plan, name=name))
        made.append(opened)
    made = _carrying(made, [one.name for one in found.stored if one.has_commits and one.name not in kept])
    committed = {one.name for one in found.stored if one.has_commits}
    fresh = {one.plan.name for one in made if one.stored is None}
    return ledger.started(map(_entry, made), fresh, committed), tuple(made)


def _carrying(made: Sequence[Beginning], ended: Sequence[str]) -> list[Beginning]:
    """What is counted of a node goes on in one of the queries that begin with it, so that no total falls or doubles."""
    claimed: set[str] = set()
    found: list[Beginning] = []
    for one in made:
        nodes = frozenset() if one.goes_on else frozenset(one.plan.members) - claimed
        claimed |= nodes
        found.append(replace(one, carried=dict.fromkeys(ended, nodes) if nodes else {}))
    return found


def own_name(plan: QueryPlan) -> str:
    """What a query is called that no version before had."""
    return plan.base.id if plan.branches else f"{plan.base.id}.bad"


def _begun(
    found: Succession, one: Beginning, locate: Locate, starts: Mapping[str, str], begin: Begin | None
) -> Beginning:
    if begin in ("latest", "last-commit"):
        _refuse_files(one, begin)
    opened: dict[str, Offsets] = {}
    released: dict[str, Offsets] = {}
    for node, topic in one.topics.items():
        location = locate(topic)
        released[node] = resolve_start(location, "latest")
        start = begin if begin in ("latest", "earliest") else starts[node]
        opened[node] = resolve_start(location, start)
        if begin == "last-commit":
            opened[node] = _within(location, found.last_commits(topic), opened[node])
    again: dict[str, int] = {}
    for node, topic in one.topics.items():
        read = found.last_commits(topic, highest=True)
        behind = sum(max(0, read.get(partition, 0) - offset) for partition, offset in opened[node].items())
        again[topic] = max(behind, again.get(topic, 0))
    return replace(
        one,
        starts=opened,
        released=released if found.has_commits else {},
        again=again if found.has_commits else {},
        forgets=found.has_commits,
    )


def _refuse_files(one: Beginning, begin: Begin) -> None:
    """Only topics have a place to begin at: files are read from the first one."""
    for source in one.plan.sources:
        if source.operator != "topic" and "path" in source.config:
            message = f"the source reads files, and cannot begin at {begin}"
            raise InvalidInput(message, node=source.id, valid=("earliest",), hint="it reads all files again")


def _within(location: TopicLocation, wanted: Offsets, otherwise: Offsets) -> Offsets:
    """Offsets that the log still has. Partitions of a topic that the pipeline has read, and that are new, are read
    from their first record; a topic that it has not read begins `otherwise`."""
    if not wanted:
        return otherwise
    first, end = resolve_start(location, "earliest"), resolve_start(location, "latest")
    return {p: min(max(wanted.get(p, 0), first[p]), end[p]) for p in first}


def _entry(one: Beginning) -> Entry:
    starts, released = one.starts, one.released
    if one.stored is not None and one.stored.entry is not None:
        before = one.stored.entry
        starts = {one.renamed.get(node, node): offsets for node, offsets in before.starts.items()}
        released = {one.renamed.get(node, node): offsets for node, offsets in before.released.items()}
    was = None if one.stored is None else one.stored.meaning
    return Entry(one.plan.name, Meaning.of(one.plan), starts, released, was)


def _matched(plans: Sequence[QueryPlan], stored: Sequence[Stored], catalogue: Catalogue) -> tuple[Beginning, ...]:
    """Each plan with the stored query that is just the same: of the same name first, then by what it means."""
    left = list(stored)
    found: dict[str, Beginning] = {}
    for same in (_is_same_name, _is_any):
        for plan in plans:
            if plan.name in found:
                continue
            for one in left:
                renamed = _renaming(one, plan, catalogue) if same(one, plan) else None
                if renamed is not None:
                    found[plan.name] = Beginning(replace(plan, name=one.name), one, renamed)
                    left.remove(one)
                    break
    return tuple(found.get(plan.name) or _anew(plan, left, catalogue) for plan in plans)


def _is_same_name(one: Stored, plan: QueryPlan) -> bool:
    return one.name == plan.name


def _is_any(one: Stored, plan: QueryPlan) -> bool:
    return True


def _renaming(one: Stored, plan: QueryPlan, catalogue: Catalogue) -> dict[str, str] | None:
    """Old node id → new one where they differ; None where the stored query is another one."""
    if one.meaning is not None:
        ids = renaming(one.meaning, Meaning.of(plan), catalogue)
    else:
        ids = _ids_of_record(one.record, plan) if _identity(one) == identity(plan) else None
    return None if ids is None else {old: new for old, new in ids.items() if old != new}


def _ids_of_record(record: CommitRecord | None, plan: QueryPlan) -> dict[str, str]:
    """The identity of a chain has the ids in it; a query of row steps has one source, whatever it is called."""
    if plan.chained or record is None or len(record.starts) != 1:
        return {}
    return dict.fromkeys(record.with_sources([plan.source.id]).starts, plan.source.id)


def _identity(one: Stored) -> str | None:
    if one.record is not None:
        return one.record.identity
    return None if one.meaning is None else one.meaning.identity


def _anew(plan: QueryPlan, left: Sequence[Stored], catalogue: Catalogue) -> Beginning:
    """With what differs from the stored query that is nearest: of its name, or with most nodes in common."""
    wanted = Meaning.of(plan)
    empty = wanted.stateful(catalogue)
    found = [(one, difference(one.meaning, wanted, catalogue)) for one in left if one.meaning is not None]
    near = [(one, differs) for one, differs in found if one.name == plan.name or differs.shared]
    unknown = [one for one in left if one.meaning is None and one.name == plan.name]
    if unknown:
        told = Difference(("~ another version made it, and that version is not known any more",))
        return Beginning(plan, empty=empty, differs=told, instead_of=unknown[0].name)
    if not near:
        return Beginning(plan, empty=empty)
    nearest, differs = max(near, key=lambda pair: (pair[0].name == plan.name, pair[1].shared))
    return Beginning(plan, empty=empty, differs=differs, instead_of=nearest.name)


def _listed_in(ledger: Ledger, records: Mapping[str, CommitRecord], *, resumed: bool) -> tuple[Stored, ...]:
    """As long as nothing is committed of what took their place, former queries can go on exactly."""
    current, former = (
        tuple(_stored(entry, records.get(entry.name)) for entry in entries)
        for entries in (ledger.current, ledger.former)
    )
    unused = [one for one in current if one.name in ledger.fresh]
    replaced = not unused or any(one.has_commits for one in unused)
    return current if replaced and not resumed else (*current, *former)


def _stored(entry: Entry, record: CommitRecord | None) -> Stored:
    return Stored(entry.name, record, entry.meant_by(record), entry)


def _found(
    pipeline: str, places: Places, plans: Sequence[QueryPlan], catalogue: Catalogue
) -> tuple[Stored, ...]:  # fmt: skip
    """Stored queries of a pipeline without a ledger. What they mean is found among the pipeline's versions."""
    names = {*folders(places.jobs_directory, pipeline), *(plan.name for plan in plans)}
    held = {owner.removeprefix(f"{pipeline}/") for owner in _holds(places.log_directory, pipeline)}
    records = _records(places.client, pipeline, names)
    # A start releases the holds of all queries but its own.
    live = {name: record for name, record in records.items() if not held or name in held or not record.starts}
    meanings = {identity(plan): Meaning.of(plan) for plan in plans}
    if {record.identity for record in live.values()} - set(meanings):
        meanings |= _known(places.versions(), catalogue)
    return tuple(Stored(name, record, _of_name(name, record, meanings)) for name, record in sorted(live.items()))


def _of_name(name: str, record: CommitRecord, meanings: Mapping[str, Meaning]) -> Meaning | None:
    return meanings.get(f"{record.identity} {name}") or meanings.get(record.identity)


def _known(versions: Iterable[Document], catalogue: Catalogue) -> dict[str, Meaning]:
    found: dict[str, Meaning] = {}
    for document in versions:
        try:
            plans = plan_queries(runnable(document, catalogue), catalogue)
        except HeadraceError:
            continue  # of an operator that is not there any more
        for plan in plans:
            found.setdefault(identity(plan), Meaning.of(plan))
            # Queries of row steps over one topic have one identity.
            found.setdefault(f"{identity(plan)} {plan.name}", Meaning.of(plan))
    return found


def _holds(log_directory: Path | None, pipeline: str) -> list[str]:
    if log_directory is None:
        return []
    return [owner for owner in hold_owners(log_directory) if owner.startswith(f"{pipeline}/")]


def _commit_topics(client: Client, pipeline: str) -> list[str]:
    """Names of queries that have a commit topic; also some of pipelines whose names begin alike."""
    prefix = commit_topic(f"{pipeline}.")
    return [topic.removeprefix(prefix) for topic in client.metadata().topics if topic.startswith(prefix)]


def _records(client: Client, pipeline: str, names: Iterable[str]) -> dict[str, CommitRecord]:
    """The last commit of each query that has one."""
    topics = {name: commit_topic(f"{pipeline}.{name}") for name in names}
    known = client.metadata(topics.values()).topics if topics else {}
    peeked = {name: CommitLog(client, f"{pipeline}.{name}").peek() for name, topic in topics.items() if topic in known}
    return {name: record for name, record in peeked.items() if record is not None}


def _lowest(one: Offsets, other: Offsets) -> Offsets:
    return {**other, **lower(one, other)}


def plural(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _listed(prefix: str, nodes: Sequence[str]) -> str:
    return f"{prefix} {', '.join(nodes)}" if nodes else ""
