"""SQL statements that ask or steer, executed: SELECT, SHOW, DESCRIBE, EXPLAIN, START PIPELINE and their kin."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from headrace.errors import Conflict, InvalidInput, InvalidSyntax, LiveQuestion, NotFound, did_you_mean
from headrace.graph import Document, Schema, canonical, compare, print_text, validate
from headrace.server.bodies import SignalBody
from headrace.server.deploying import Choice
from headrace.server.models.statements import StatementView
from headrace.spark import JobStatus
from headrace.spark.planning.hoist import hoisted
from headrace.spark.planning.rules import rules_of
from headrace.sql import (
    SPARK_FUNCTIONS,
    Ask,
    Create,
    Delete,
    Describe,
    Drop,
    Explain,
    InsertValues,
    PipelineAction,
    Request,
    Show,
    Update,
    parse,
    print_statement,
    read_requests,
    written_by,
)
from headrace.tables import Change, declared_in

if TYPE_CHECKING:
    from headrace.server.service import Service

Cell: TypeAlias = str | int | float | bool | None
Table: TypeAlias = tuple[list[str], list[list[Cell]]]
STATEMENTS_MAX = 20
# How long PAUSE and RESUME wait for the job to come to the place of their signal.
HOLD_WAIT_S = 60.0
_POLL_S = 0.05
_VALID = ("SELECT … FROM table", "CREATE TABLE …", "SHOW …", "DESCRIBE …", "EXPLAIN …", "START PIPELINE …")


class Statements:
    """Runs what a script asks, in order; what was done before a fault stays done."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def run(self, sql: str) -> list[StatementView]:
        """Raises InvalidSyntax, InvalidInput, NotFound, and what a start or a stop raises."""
        requests = read_requests(sql)
        if self._service.looks.is_live(sql):
            raise LiveQuestion("this SELECT reads a stream", hint="POST /api/sql/look shows its rows while they come")
        if not requests:
            hint = "save a pipeline with POST /api/pipelines, or write EXPLAIN before the last statement"
            raise InvalidInput("this SQL defines a pipeline and asks nothing", valid=_VALID, hint=hint)
        if len(requests) > STATEMENTS_MAX:
            raise InvalidInput(f"{len(requests)} statements; at most {STATEMENTS_MAX} are run at once")
        return [self._view(request) for request in requests]

    def _view(self, request: Request) -> StatementView:
        columns, rows = self._answer(request)
        return StatementView(statement=print_statement(request.operation), columns=columns, rows=rows)

    def _answer(self, request: Request) -> Table:
        match request.operation:
            case Ask() as ask:
                return self._ask(ask, request.definitions)
            case InsertValues() | Update() | Delete() as change:
                return self._change_table(change, request.definitions)
            case Create() as create:
                return self._declare(create)
            case Show() as show:
                return self._show(show)
            case Describe() as describe:
                return self._describe(describe.name.text)
            case Drop() as drop:
                return ["dropped"], [[self._service.tables.forget(drop.name.text)]]
            case Explain() as explain:
                return self._explain(explain, request)
            case PipelineAction() as action:
                return self._steer(action)

    def _show(self, show: Show) -> Table:
        of = "" if show.of is None else show.of.text
        match show.what:
            case "pipelines":
                return self._pipelines()
            case "topics":
                topics = self._service.topics.overview().topics
                shown = [topic for topic in topics if not topic.is_internal]
                return ["topic", "partitions", "records"], [[t.name, t.partitions, t.messages] for t in shown]
            case "partitions":
                parts = self._service.topics.describe(of).partitions
                return ["partition", "start", "end"], [[p.id, p.start_offset, p.end_offset] for p in parts]
            case "functions":
                return ["function"], [[name] for name in sorted(SPARK_FUNCTIONS)]
            case "schema":
                return self._describe(of)
            case "streams":
                ends = self._ends()
                return ["stream", "pipeline", "reads or writes", "topic"], [list(end) for end in ends]
            case "tables":
                known = self._service.tables.known()
                return ["table", "topic", "key"], [[table.name, table.topic, table.key] for table in known]

    def _ask(self, ask: Ask, definitions: str) -> Table:
        own = declared_in(definitions, self._service.catalogue) if definitions else ()
        answer = self._service.tables.ask(print_statement(ask), own)
        return list(answer.columns), [[_cell(value) for value in row] for row in answer.rows]

    def _change_table(self, change: Change, definitions: str) -> Table:
        own = declared_in(definitions, self._service.catalogue) if definitions else ()
        return ["rows"], [[self._service.tables.change(change, own)]]

    def _declare(self, create: Create) -> Table:
        """The topic is there afterwards, compacted, and the table can be asked."""
        declared = self._service.declare_table(f"{print_statement(create)};")
        return ["table", "topic", "key"], [[table.name, table.topic, table.key] for table in declared]

    def _pipelines(self) -> Table:
        """With the version that runs, or that a start would take where none does."""
        states = {job.pipeline: job.shown_state for job in self._service.jobs()}
        rows: list[list[Cell]] = []
        for info in self._service.pipelines():
            running = self._service.running(info.name)
            number = info.runs_next if running is None else running.info.number
            rows.append([info.name, number, info.latest.number, states.get(info.name, "stopped")])
        return ["pipeline", "version", "latest", "state"], rows

    def _documents(self) -> Iterator[Document]:
        for info in self._service.pipelines():
            yield self._service.version(info.name, None).document

    def _ends(self) -> Iterator[tuple[str, str, str, str | None]]:
        """Sources and sinks of the newest versions."""
        for document in self._documents():
            for node in document.nodes:
                kind = self._service.catalogue.get(node.operator).spec.kind
                if kind in ("source", "sink"):
                    topic = node.config.get("topic")
                    reads = "reads" if kind == "source" else "writes"
                    yield written_by(node.id), document.name, reads, None if topic is None else str(topic)

    def _describe(self, name: str) -> Table:
        """The columns of a stream or a view, wherever a pipeline has one of that name."""
        known: set[str] = set()
        for table in self._service.tables.known():
            if table.name.lower() == name.lower():
                notes = dict.fromkeys(table.keys, "key")
                return ["column", "type", "note"], [[one.name, one.type, notes.get(one.name)] for one in table.schema]
        for document in self._documents():
            schemas = validate(document, self._service.catalogue).schemas
            if name in schemas:
                return ["column", "type", "note"], [list(row) for row in _column_rows(schemas[name])]
            known |= set(schemas)
        raise NotFound(
            f"no pipeline has a stream {name!r}", hint=did_you_mean(name, known) or "SHOW STREAMS lists them"
        )

    def _explain(self, explain: Explain, request: Request) -> Table:
        try:
            document = self._explained(explain, request)
        except InvalidSyntax as error:
            error.place = request.in_script(error.place)
            raise
        if explain.what == "plan":
            plans = self._service.spark_plans(document)
            return ["query", "plan"], [[name, line] for name, plan in plans.items() for line in plan.splitlines()]
        if explain.what == "change":
            return self._change(document)
        validated = validate(document, self._service.catalogue)
        graph = print_text(document, self._service.catalogue).splitlines()
        columns = [f"{node.id}: {validated.schemas[node.id]}" for node in document.nodes]
        rules = rules_of(hoisted(validated, self._service.catalogue), self._service.catalogue)
        return ["explained"], [[line] for line in (*graph, "", *columns, "", *rules)]

    def _explained(self, explain: Explain, request: Request) -> Document:
        if explain.pipeline is not None:
            return self._service.version(explain.pipeline, None).document
        if isinstance(explain.of, Ask):
            if not self._service.looks.is_live(request.explained_sql):
                raise InvalidInput("tables are asked at once, from their copies: there is no plan to show")
            return self._service.looks.read(request.explained_sql).document
        return parse(request.explained_sql, catalogue=self._service.catalogue)

    def _change(self, document: Document) -> Table:
        """What differs from what runs."""
        running = self._service.running(document.name)
        if running is None:
            raise NotFound(f"pipeline {document.name!r} does not run", hint="EXPLAIN CHANGE compares with what runs")
        catalogue = self._service.catalogue
        diff = compare(canonical(running.document, catalogue), canonical(document, catalogue))
        return ["change"], [[line] for line in str(diff).splitlines()]

    def _steer(self, action: PipelineAction) -> Table:
        name, choice = action.name.text, Choice(action.begin)
        match action.action:
            case "start":
                status = self._service.start(name, None, choice)
            case "stop":
                status = self._service.stop(name)
            case "deploy":
                status = self._service.switch(name, action.version, choice)
            case "rollback":
                status = self._service.switch(name, action.version or self._before(name), choice)
            case "pause" | "resume":
                status = self._hold(name, action.action)
        columns = ["pipeline", "version", "state"]
        row: list[Cell] = [name, self._service.job_version(name), status.shown_state]
        if action.action in ("start", "deploy", "rollback"):
            return [*columns, "begins"], [[*row, "; ".join(self._service.begun(name))]]
        return columns, [row]

    def _hold(self, name: str, kind: Literal["pause", "resume"]) -> JobStatus:
        """The signal is in its place, and the job behind it unless it needs longer than a caller likes to wait."""
        if self._service.running(name) is None:
            raise Conflict(f"pipeline {name!r} does not run", hint=f"START PIPELINE {name}")
        self._service.signals.send(SignalBody(kind=kind, pipeline=name))
        deadline_s = time.monotonic() + HOLD_WAIT_S
        status = self._service.job(name)
        while (status.paused_by is not None) != (kind == "pause") and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
            status = self._service.job(name)
        return status

    def _before(self, name: str) -> int:
        """The version before the one that runs, or before the newest."""
        current = self._service.job_version(name) or self._service.version(name, None).info.number
        older = [info.number for info in self._service.versions(name) if info.number < current]
        if not older:
            raise InvalidInput(f"pipeline {name!r} has no version before {current}")
        return max(older)


def _cell(value: Any) -> Cell:
    """Bytes as text in base 64: JSON has none."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _column_rows(schema: Schema) -> Iterable[tuple[Cell, ...]]:
    for column in schema.columns:
        yield column.name, column.type, "event time" if column.name == schema.event_time else None
    for column in schema.hidden:
        yield column.name, column.type, "not in *"
