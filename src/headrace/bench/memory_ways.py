"""Ways for a payload to another process: slots of a pool, and those of peers. Each fills it anew and awaits its sum."""

from __future__ import annotations

import multiprocessing
import os
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Final

import numpy as np

from headrace.bench.environments import python_with
from headrace.bench.memory_reader import (
    ANSWER,
    CLOSE,
    HEADER,
    iceoryx_service,
    import_iceoryx,
    read_payloads,
)
from headrace.errors import ExternalFailure, JobFailed
from headrace.memory import Pool

OURS: Final = "slots"
PEERS: Final = ("socket", "queue", "iceoryx2")
ICEORYX_VERSION: Final = "0.10.0"
ANSWER_TIMEOUT_S: Final = 60.0
END_TIMEOUT_S: Final = 20.0
_SPAWNED: Final = multiprocessing.get_context("spawn")

# Fills the payload with a byte and hands it over.
Send = Callable[[int], None]


class Way(AbstractContextManager["Way"]):
    """A reader in a process of its own, and payloads of one size to it. Raises ExternalFailure if a peer cannot run."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self._size = size
        # What the way needs, to its end.
        self._ending = ExitStack()
        prepare = {"slots": self._slots, "socket": self._socket, "queue": self._queue, "iceoryx2": self._iceoryx}
        self._send, data, begin = prepare[name]()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(ANSWER_TIMEOUT_S)
        self._ending.callback(self._control.close)
        self._process = _SPAWNED.Process(target=read_payloads, args=(name, theirs, data), daemon=True)
        self._process.start()
        theirs.close()
        begin()
        self._control.send(HEADER.pack(0, 0))
        self._reader_s = self._answer(0, 0)
        self._held: Any = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._control.send(HEADER.pack(0, CLOSE))
        self._process.join(END_TIMEOUT_S)
        if self._process.is_alive():
            self._process.kill()
        self._ending.close()

    def one(self, value: int) -> float:
        """Seconds from an empty payload until the other process has read every byte. Raises JobFailed."""
        began_s = time.perf_counter()
        self._send(value)
        self._reader_s = self._answer(self._size, value)
        self._held = None
        return time.perf_counter() - began_s

    def cpu_s(self) -> float:
        """Of both processes until now."""
        return time.process_time() + self._reader_s

    def _announce(self, offset: int = 0) -> None:
        self._control.send(HEADER.pack(offset, self._size))

    def _answer(self, length: int, value: int) -> float:
        answer = self._control.recv(ANSWER.size)
        if len(answer) != ANSWER.size:
            raise JobFailed(f"{self.name}: the reader has ended")
        total, reader_s = ANSWER.unpack(answer)
        if total != sum_expected(value, length):
            raise JobFailed(f"{self.name}: the reader saw other bytes than were sent")
        return float(reader_s)

    def _slots(self) -> tuple[Send, object, Callable[[], None]]:
        pool = Pool(self._size, slots=2, memory="shared")
        place = pool.loan(self._size).place()

        def send(value: int) -> None:
            self._held = pool.loan(self._size)
            _fill(self._held.edit(), value)
            self._announce(self._held.place().offset)

        def begin() -> None:
            socket.send_fds(self._control, [HEADER.pack(0, place.segment_bytes)], [place.descriptor])

        return send, None, begin

    def _socket(self) -> tuple[Send, object, Callable[[], None]]:
        mine, theirs = socket.socketpair()
        memory = memoryview(bytearray(self._size))
        self._ending.enter_context(mine)
        self._ending.enter_context(theirs)

        def send(value: int) -> None:
            _fill(memory, value)
            self._announce()
            mine.sendall(memory)

        return send, theirs, _nothing

    def _queue(self) -> tuple[Send, object, Callable[[], None]]:
        queue: Any = _SPAWNED.Queue()
        self._ending.callback(queue.join_thread)
        self._ending.callback(queue.close)
        array = np.empty(self._size, np.uint8)

        def send(value: int) -> None:
            array.fill(value)
            queue.put(array)
            self._announce()

        return send, queue, _nothing

    def _iceoryx(self) -> tuple[Send, object, Callable[[], None]]:
        python = python_with("iceoryx2", ICEORYX_VERSION)
        (folder,) = (str(path) for path in (python.parent.parent / "lib").glob("python3.*/site-packages"))
        try:
            iceoryx = import_iceoryx(folder)
        except ImportError as error:
            raise ExternalFailure(f"iceoryx2 cannot be loaded: {error}") from error
        name = f"headrace-bench-{os.getpid()}-{id(self)}"
        node, service = iceoryx_service(iceoryx, name)
        publisher = service.publisher_builder().initial_max_slice_len(self._size).create()

        def send(value: int) -> None:
            sample = publisher.loan_slice_uninit(self._size)
            _fill(sample.payload().as_memory_view(), value)
            sample.assume_init().send()
            self._announce()

        # They live as long as somebody refers to them.
        self._ending.callback(_nothing, node, service, publisher)
        return send, (folder, name), self._require_ready

    def _require_ready(self) -> None:
        if self._control.recv(16) != b"ready":
            raise ExternalFailure("the reader of iceoryx2 has ended")


def sum_expected(value: int, length: int) -> int:
    return int.from_bytes(bytes([value]) * 8, "little") * (length // 8) % (1 << 64)


def _fill(memory: Any, value: int) -> None:
    np.frombuffer(memory, np.uint8).fill(value)


def _nothing(*_: object) -> None: ...
