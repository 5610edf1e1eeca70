"""SELECT over streams, shown while its rows come: started for one reader, gone when the reader is."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from anyio import CapacityLimiter, to_thread
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from headrace.cases.streamed import latest_by, tells_changes
from headrace.errors import Conflict, HeadraceError, InvalidInput, JobFailed
from headrace.graph import Document, Node, validate
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.preview import MAX_PREVIEW_ROWS
from headrace.server.bodies import LookBody
from headrace.server.known_streams import KnownStreams
from headrace.spark.jobs.look import Look, look_name
from headrace.sql import LOOK, read_look, read_wanted
from headrace.sql.looking import Look as LookPipeline

if TYPE_CHECKING:
    from headrace.server.service import Service

# Micro-batches that wait for a reader; then the pipeline waits with them.
WAITING_MAX: Final = 4
_POLL_S: Final = 0.2
_WORDS: Final = "a SELECT over streams"


class Looks:
    """May be used by many threads. Every reader has a pipeline of its own."""

    def __init__(self, service: Service, looks_max: int, keep_alive_s: float) -> None:
        self._service = service
        self._looks_max = looks_max
        self._keep_alive_s = keep_alive_s
        self._threads = CapacityLimiter(looks_max)
        self._places = threading.BoundedSemaphore(looks_max)

    def is_live(self, sql: str) -> bool:
        """Whether a script ends with a SELECT that reads a stream: nothing but its rows, as they come, can answer it.

        Raises InvalidSyntax, and NotFound for a name that means nothing.
        """
        wanted = read_wanted(sql)
        if wanted is None:
            return False
        known = self._known()
        are_tables = [known.is_table(name) for name in wanted.others]
        return bool(wanted.streams) or not all(are_tables)

    def read(self, sql: str) -> LookPipeline:
        """What shows the SELECT over streams that a script ends with. Raises InvalidSyntax, NotFound, Conflict."""
        wanted = read_wanted(sql)
        if wanted is None:
            raise InvalidInput(f"{_WORDS} is to be looked at", hint="definitions may stand before it, nothing behind")
        return read_look(sql, self._known().definitions(wanted.missing), self._service.catalogue)

    async def open(self, body: LookBody) -> OpenLook:
        """Its pipeline runs afterwards; the caller closes it. Raises InvalidSyntax, NotFound, Conflict."""
        return await to_thread.run_sync(self._open, body)

    def _open(self, body: LookBody) -> OpenLook:
        look, catalogue = self.read(body.sql), self._service.catalogue
        document = replace(look.document, name=look_name())
        validated = validate(_paced(document, body.start, catalogue), catalogue)
        if not self._places.acquire(blocking=False):
            raise Conflict(f"{self._looks_max} looks are open, which is the limit", hint="end one with Ctrl-C")
        try:
            columns, keys = validated.schemas[LOOK].names, _keys(validated, catalogue)
            opened = OpenLook(
                columns, keys, look.limit, self._keep_alive_s, threads=self._threads, released=self._places.release
            )
            opened.started(self._service.look(validated.document, opened.take))
        except BaseException:
            self._places.release()
            raise
        return opened

    def _known(self) -> KnownStreams:
        return KnownStreams(self._service.documents(), self._service.tables.known(), self._service.catalogue)


class OpenLook:
    """What one reader gets: lines of JSON, until the limit of the SELECT, a failure, or the end of the reader.

    The first has `columns`, and in `keys` those that name the row which a later one takes the place of (null where
    rows stay). Then come `rows`, as objects, and how many more came out that are not `shown`; or `error`, at the end.
    """

    def __init__(
        self,
        columns: Sequence[str],
        keys: list[str] | None,
        limit: int | None,
        keep_alive_s: float,
        *,
        threads: CapacityLimiter,
        released: Any,
    ) -> None:
        self._columns = columns
        self._keys = keys
        self._limit = limit
        self._keep_alive_s = keep_alive_s
        self._threads = threads
        self._released = released
        self._rows: queue.Queue[list[str]] = queue.Queue(WAITING_MAX)
        self._is_closed = threading.Event()
        self._look: Look | None = None

    def started(self, look: Look) -> None:
        self._look = look

    def take(self, rows: Sequence[str]) -> None:
        """Called at each commit. Waits while the reader has not taken those before."""
        while rows and not self._is_closed.is_set():
            try:
                self._rows.put(list(rows), timeout=_POLL_S)
            except queue.Full:
                continue
            return

    async def lines(self) -> AsyncIterator[str]:
        yield _line({"columns": list(self._columns), "keys": self._keys})
        left, spoke_s = self._limit, time.monotonic()
        while left is None or left > 0:
            rows = (await to_thread.run_sync(self._next, limiter=self._threads))[:left]
            if rows:
                left = None if left is None else left - len(rows)
                spoke_s = time.monotonic()
                yield f'{{"rows": [{", ".join(rows)}]}}\n'
            elif (failure := self._failure()) is not None:
                yield _line({"error": failure.to_dict()})
                return
            elif time.monotonic() - spoke_s > self._keep_alive_s:
                spoke_s = time.monotonic()
                yield _line({"rows": []})

    async def close(self) -> None:
        self._is_closed.set()
        try:
            if self._look is not None:
                await to_thread.run_sync(self._look.close)
        finally:
            self._released()

    def _next(self) -> list[str]:
        """Those of one micro-batch; none where none came in a while."""
        try:
            return self._rows.get(timeout=_POLL_S)
        except queue.Empty:
            return []

    def _failure(self) -> HeadraceError | None:
        if self._look is None or self._look.job is None:
            return JobFailed("the server is stopping")
        return self._look.failure


class LookResponse(StreamingResponse):
    """Ends the look however the response ends, also when it never began."""

    def __init__(self, look: OpenLook) -> None:
        super().__init__(look.lines(), media_type="application/x-ndjson", headers={"Cache-Control": "no-store"})
        self._look = look

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._look.close()


def _keys(validated: Validated, catalogue: Catalogue) -> list[str] | None:
    """The columns that name a row which changes; an empty list means that there is one row."""
    if not tells_changes(validated, LOOK):
        return None
    names = latest_by(validated, catalogue, LOOK)
    has_groups = any(config.keys for config in validated.configs.values() if getattr(config, "keys", None))
    return list(names) if names or not has_groups else None


def _paced(document: Document, start: str | None, catalogue: Catalogue) -> Document:
    """The sources begin where the reader wants it. Without state between, no more rows come at once than are shown."""
    keeps_state = any(catalogue.get(node.operator).spec.stateful for node in document.nodes)

    def paced(node: Node) -> Node:
        if node.operator != "topic":
            return node
        begin = {} if start is None else {"start": start}
        pace = {} if keeps_state else {"max_rows_per_batch": MAX_PREVIEW_ROWS}
        return replace(node, config={**node.config, **begin, **pace})

    return document.with_nodes(paced(node) for node in document.nodes)


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"
