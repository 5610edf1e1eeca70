"""One client connection: frames in, requests to their handlers, answers out in the order of the requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutine
from typing import Any, Final, NamedTuple, cast

from headrace.wire.config import BrokerConfig
from headrace.wire.door import Door, Visit
from headrace.wire.event_log import EventLog
from headrace.wire.frames import FrameReceiver, Piece, RequestHeader, read_header, response_frame
from headrace.wire.handlers.table import ROUTES, Route, unsupported_api_versions
from headrace.wire.listener import Listener, keep_alive
from headrace.wire.messages.produce import ProduceRequest
from headrace.wire.messages.repeated import RepeatedRequests
from headrace.wire.outbox import Outbox
from headrace.wire.packing import Malformed, Reader
from headrace.wire.protocol import API_VERSIONS, API_VERSIONS_KEY, PRODUCE, SASL_AUTHENTICATE, SASL_HANDSHAKE
from headrace.wire.request_memory import RequestMemory
from headrace.wire.services import AfterSync, Call, Services

_log = EventLog()

BEFORE_AUTHENTICATION: Final = (API_VERSIONS_KEY, SASL_HANDSHAKE.key, SASL_AUTHENTICATE.key)

# Of a client that has not proved who it is.
STRANGER_FRAME_BYTES_MAX: Final = 512 * 1024


_PRODUCE_ROUTE: Final = ROUTES[PRODUCE.key]


class _Received(NamedTuple):
    route: Route
    header: RequestHeader
    # That of the header, or the one in which a client is told that it is not spoken here.
    answer_version: int
    # Behind the header; or, where the client sends the same as before with other records, what it asks for.
    content: Reader | ProduceRequest
    size_bytes: int


@dataclass(slots=True)
class _InFlight:
    """A request that is not answered: a task works on it, or it waits for the disk only."""

    received: _Received
    task: asyncio.Task[Any] | None = None
    after: AfterSync[Any] | None = None
    synced: bool = False

    @property
    def is_done(self) -> bool:
        return self.synced if self.task is None else self.task.done()


class Connection(asyncio.BufferedProtocol):
    """Whatever a client sends, nothing but its own connection suffers: it is closed, and the reason is logged.

    A request starts when all before it are answered, as in Kafka. Only Produce may start while other Produce requests
    wait for their sync; they append in the order in which they came.
    """

    def __init__(
        self,
        services: Services,
        listener: Listener,
        memory: RequestMemory,
        door: Door,
        *,
        came: Callable[[Connection], None],
        gone: Callable[[Connection], None],
    ) -> None:
        """The door is asked once, when connected. `came` is called when it let the client in, `gone` afterwards."""
        self._services = services
        self._listener = listener
        self._memory = memory
        self._session = listener.session("", None)
        self._muted = False
        self._stranger_timer: asyncio.TimerHandle | None = None
        self._config: BrokerConfig = services.config
        self._door = door
        self._visit: Visit | None = None
        self._came = came
        self._gone = gone
        self._receiver = FrameReceiver(self._config.request_bytes_max)
        self._waiting: deque[_Received] = deque()
        self._in_flight: deque[_InFlight] = deque()
        self._held_bytes = 0
        self._client_host = ""
        self._transport: asyncio.Transport | None = None
        self._reading_paused = False
        self._outbox: Outbox | None = None
        self._outgoing: list[Piece] = []
        self._flushes = False
        self._last_call: Call | None = None
        self._repeated = RepeatedRequests()

    # -- called by the event loop -------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        tcp = cast(asyncio.Transport, transport)
        self._transport = tcp
        peer = transport.get_extra_info("peername")
        self._client_host = str(peer[0]) if peer else ""
        self._session = self._listener.session(self._client_host, transport.get_extra_info("peercert"))
        self._outbox = Outbox(tcp, self._config.unsent_bytes_max, self.close)
        if not self._enter(tcp):
            tcp.abort()
            return
        if not self._session.authenticated:
            self._receiver.frame_bytes_max = STRANGER_FRAME_BYTES_MAX
            limit_s = self._config.authentication_ms_max / 1000
            self._stranger_timer = asyncio.get_running_loop().call_later(limit_s, self._close_stranger)

    def _enter(self, transport: asyncio.Transport) -> bool:
        keep_alive(transport.get_extra_info("socket"))
        visit = self._door.enter(self._client_host, asyncio.get_running_loop().time())
        if isinstance(visit, str):
            self._door.refused.warning(client=self._client_host, reason=visit)
            return False
        visit.busy, visit.close = self._is_busy, self.close
        self._visit = visit
        self._came(self)
        return True

    def _is_busy(self) -> bool:
        """Whether its silence is not the client's fault."""
        return bool(self._in_flight or self._waiting or self._muted or self._reading_paused)

    def _close_stranger(self) -> None:
        """Strangers must not keep others from connecting by merely being there."""
        if not self._session.authenticated:
            self.close(f"no authentication within {self._config.authentication_ms_max} ms")

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._receiver.free()

    def buffer_updated(self, nbytes: int) -> None:
        whole = False
        try:
            for frame in self._receiver.advance(nbytes):
                self._waiting.append(self._accept(frame))
                whole = True
        except Malformed as error:
            self.close(str(error))
        if self._visit is not None:
            self._visit.heard(asyncio.get_running_loop().time(), whole=whole, partial=self._receiver.is_partial)
        self._start_requests()

    def eof_received(self) -> bool:
        """The client sends no more: it gets what is ready, then the connection is closed."""
        self._end()
        return True

    def pause_writing(self) -> None:
        if self._outbox is not None:
            self._outbox.pause()

    def resume_writing(self) -> None:
        if self._outbox is not None:
            self._outbox.resume()
        self._start_requests()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._outbox is not None:
            self._outbox.close()
            self._outbox = None
        self._memory.forget(self._throttle_reading)
        if self._stranger_timer is not None:
            self._stranger_timer.cancel()
        for received in self._waiting:
            self._release(received)
        self._waiting.clear()
        for request in self._in_flight:
            if request.received.route.waits and request.task is not None:
                request.task.cancel()
        if self._visit is not None:
            self._door.leave(self._visit)
        self._gone(self)

    @property
    def unfinished(self) -> list[asyncio.Task[Any]]:
        """Requests that are carried through to their end even when the client is gone."""
        tasks = (request.task for request in self._in_flight if not request.received.route.waits)
        return [task for task in tasks if task is not None]

    # -- requests -----------------------------------------------------------------------------------------------

    def close(self, reason: str | None = None) -> None:
        """Without a reason it is nobody's fault: the broker stops, or nothing came for long."""
        if self._transport is not None:
            if reason is not None:
                self._door.closed.warning(client=self._client_host, reason=reason)
            self._transport.abort()

    def _accept(self, frame: memoryview | bytes) -> _Received:
        """Raises Malformed for a request that cannot be answered."""
        # One that is like another before it passed what is asked here with that one.
        known = self._repeated.read(frame)
        if known is None:
            received = self._examine(frame)
        else:
            received = _Received(_PRODUCE_ROUTE, known[0], known[0].version, known[1], len(frame))
        self._held_bytes += received.size_bytes
        self._memory.hold(received.size_bytes)
        return received

    def _examine(self, frame: memoryview | bytes) -> _Received:
        """Raises Malformed."""
        reader = Reader(frame)
        header = read_header(reader)
        route = ROUTES.get(header.api_key)
        if route is None:
            raise Malformed(f"api key {header.api_key} is not known")
        answer_version = header.version
        if not route.api.speaks(header.version):
            if header.api_key != API_VERSIONS_KEY:
                raise Malformed(f"version {header.version} of {route.api.name} is not known")
            answer_version = API_VERSIONS.version_min
        if header.api_key not in BEFORE_AUTHENTICATION:
            if not self._session.authenticated:
                raise Malformed(f"a {route.api.name} request before authentication")
            if self._visit is not None and self._visit.on_trial:
                raise Malformed("no place for another connection but for our own parts, which authenticate first")
        if header.api_key != PRODUCE.key and len(frame) > self._config.control_request_bytes_max:
            limit = self._config.control_request_bytes_max
            raise Malformed(f"a {route.api.name} request of {len(frame)} bytes; at most {limit} are accepted")
        return _Received(route, header, answer_version, reader, len(frame))

    def _start_requests(self) -> None:
        while self._waiting and self._outbox is not None and not self._outbox.is_full and not self._muted:
            received = self._waiting[0]
            if self._in_flight and not (received.route.pipelined and self._in_flight[-1].received.route.pipelined):
                break
            if len(self._in_flight) >= self._config.in_flight_requests_max:
                break
            self._waiting.popleft()
            self._start(received)
        if self._outgoing and not self._flushes:
            self._flush()
        self._throttle_reading()

    def _throttle_reading(self) -> None:
        """Stop reading while too much is held; what the client sends then stays in its own socket."""
        if self._transport is None:
            return
        requests = len(self._waiting) + len(self._in_flight)
        full = requests >= self._config.in_flight_requests_max or self._held_bytes >= self._config.in_flight_bytes_max
        if self._memory.full:
            full = True
            self._memory.call_when_free(self._throttle_reading)
        if full and not self._reading_paused:
            self._transport.pause_reading()
        elif not full and self._reading_paused:
            self._transport.resume_reading()
        self._reading_paused = full

    def _start(self, received: _Received) -> None:
        try:
            outcome = self._call(received)
        except Malformed as error:
            self._release(received)
            self.close(f"{received.route.api.name}: {error}")
            return
        except Exception as error:
            self._release(received)
            self._defect(received, error)
            return
        if isinstance(outcome, AfterSync):
            request = _InFlight(received, after=outcome)
            self._in_flight.append(request)
            self._services.committer.when_durable(partial(self._synced, request))
        elif iscoroutine(outcome):
            task = asyncio.get_running_loop().create_task(outcome)
            self._in_flight.append(_InFlight(received, task))
            task.add_done_callback(self._answer_finished)
        else:
            self._answer(received, outcome)

    def _synced(self, request: _InFlight) -> None:
        request.synced = True
        self._answer_finished()

    def _call(self, received: _Received) -> Any:
        api, header = received.route.api, received.header
        request: Any = received.content
        if isinstance(request, Reader):
            if received.answer_version != header.version:
                return unsupported_api_versions()
            request.skip_tagged_fields(api.flexible_request(header.version))
            request = self._repeated.heed(request, api.codec.decode_request(header.version, request))
        return received.route.handle(self._services, self._caller(header), request)

    def _caller(self, header: RequestHeader) -> Call:
        """Made anew only when the client changes version or name: most send the same kind of request on and on."""
        call, client_id = self._last_call, header.client_id or ""
        if call is None or call.version != header.version or call.client_id != client_id:
            endpoint = self._listener.endpoint
            call = self._last_call = Call(header.version, client_id, self._client_host, self._session, endpoint)
        return call

    def _answer_finished(self, _: asyncio.Task[Any] | None = None) -> None:
        """Answers leave in the order of their requests: those that are ready wait for the one in front."""
        while self._in_flight and self._in_flight[0].is_done:
            request = self._in_flight.popleft()
            if request.after is not None:
                self._answer(request.received, request.after.answer())
            elif request.task is not None:
                self._answer_task(request.received, request.task)
        if not self._in_flight:
            # No other answer can become ready in this turn.
            self._flush()
        if self._waiting or self._reading_paused:
            self._start_requests()

    def _answer_task(self, received: _Received, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            self._release(received)
            return
        error = task.exception()
        if error is not None:
            self._release(received)
            self._defect(received, error)
        else:
            self._answer(received, task.result())

    def _answer(self, received: _Received, response: object) -> None:
        self._release(received)
        if self._session.throttle_ms:
            self._mute()
        if response is None or self._transport is None:
            return
        api, version = received.route.api, received.answer_version
        try:
            body = api.codec.encode_response(version, response)
        except Exception as error:
            self._defect(received, error)
            return
        self._send(response_frame(received.header.correlation_id, api.flexible_response(version), body))
        if self._session.authenticated:
            self._receiver.frame_bytes_max = self._config.request_bytes_max
            if self._visit is not None and self._session.access.own:
                self._visit.prove_own()
        if self._session.rejected:
            self._end()

    def _release(self, received: _Received) -> None:
        """The request needs no memory any more, whatever became of it."""
        self._held_bytes -= received.size_bytes
        self._memory.release(received.size_bytes)

    def _mute(self) -> None:
        """A client above its quota is answered, and then not served for a while; it was told how long."""
        throttle_ms, self._session.throttle_ms = self._session.throttle_ms, 0
        self._muted = True
        asyncio.get_running_loop().call_later(throttle_ms / 1000, self._unmute)

    def _unmute(self) -> None:
        self._muted = False
        self._start_requests()

    def _send(self, pieces: list[Piece]) -> None:
        """Answers that are ready in the same turn of the loop leave in one write."""
        self._outgoing += pieces
        if self._in_flight and not self._flushes:
            self._flushes = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushes = False
        pieces, self._outgoing = self._outgoing, []
        if pieces and self._outbox is not None:
            if self._visit is not None:
                self._visit.heard_s = asyncio.get_running_loop().time()
            self._outbox.send(pieces)

    def _end(self) -> None:
        """What is ready is sent, and nothing else."""
        self._flush()
        if self._outbox is not None:
            self._outbox.close_when_sent()

    def _defect(self, received: _Received, error: BaseException) -> None:
        """A mistake of ours: this client cannot be answered, the others are not concerned."""
        _log.error("request failed", api=received.route.api.name, version=received.header.version, error=error)
        self.close(f"{received.route.api.name} failed: {type(error).__name__}")
