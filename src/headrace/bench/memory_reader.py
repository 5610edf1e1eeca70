"""The other process of the suite `memory`: gets payloads by one way, reads every byte, and answers with their sum."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from multiprocessing.queues import Queue
from typing import Any, Final

import numpy as np

# Offset and length of a payload; of length 0 is the question for the CPU time that was used, of CLOSE the end.
HEADER: Final = struct.Struct("<QQ")
ANSWER: Final = struct.Struct("<Qd")
CLOSE: Final = 1 << 63

Fetch = Callable[[int, int], Any]


def read_payloads(way: str, control: socket.socket, data: Any) -> None:
    """Runs in a process of its own. `data` is what the way needs: a socket, a queue, the name of a service."""
    fetch = _WAYS[way](control, data)
    while True:
        offset, length = HEADER.unpack(control.recv(HEADER.size))
        if length == CLOSE:
            return
        total = sum_of(fetch(offset, length)) if length else 0
        control.send(ANSWER.pack(total, time.process_time()))


def sum_of(memory: Any) -> int:
    """Of all bytes, eight at a time; they are read where they lie."""
    return int(np.frombuffer(memory, np.uint64).sum())


def import_iceoryx(folder: str) -> Any:
    """The package from an environment of its own; what else it needs is ours."""
    if folder not in sys.path:
        sys.path.append(folder)
    import iceoryx2  # type: ignore[import-not-found] # noqa: PLC0415 - a peer, where it is installed

    iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
    return iceoryx2


def iceoryx_service(iceoryx: Any, name: str) -> Any:
    node = iceoryx.NodeBuilder.new().create(iceoryx.ServiceType.Ipc)
    builder = node.service_builder(iceoryx.ServiceName.new(name))
    return node, builder.publish_subscribe(iceoryx.Slice[ctypes.c_uint8]).open_or_create()


def _slots(control: socket.socket, data: object) -> Fetch:
    message, descriptors, _, _ = socket.recv_fds(control, HEADER.size, 1)
    view = memoryview(mmap.mmap(descriptors[0], HEADER.unpack(message)[1], prot=mmap.PROT_READ))
    os.close(descriptors[0])
    return lambda offset, length: view[offset : offset + length]


def _socket(control: socket.socket, data: socket.socket) -> Fetch:
    memory = memoryview(bytearray(0))

    def fetch(offset: int, length: int) -> memoryview:
        nonlocal memory
        if len(memory) != length:
            memory = memoryview(bytearray(length))
        got = 0
        while got < length:
            got += data.recv_into(memory[got:])
        return memory

    return fetch


def _queue(control: socket.socket, data: Queue[Any]) -> Fetch:
    return lambda offset, length: data.get()


def _iceoryx(control: socket.socket, data: tuple[str, str]) -> Fetch:
    iceoryx = import_iceoryx(data[0])
    node, service = iceoryx_service(iceoryx, data[1])
    subscriber = service.subscriber_builder().create()
    control.send(b"ready")
    held: list[Any] = [node]

    def fetch(offset: int, length: int) -> memoryview:
        while (sample := subscriber.receive()) is None:
            pass
        held[:] = [node, sample]
        view: memoryview = sample.payload().as_memory_view()
        return view

    return fetch


_WAYS: Final[dict[str, Callable[..., Fetch]]] = {
    "slots": _slots,
    "socket": _socket,
    "queue": _queue,
    "iceoryx2": _iceoryx,
}
