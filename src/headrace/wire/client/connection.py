"""One connection to one broker, one request at a time."""

from __future__ import annotations

import select
import socket
import time
from typing import Final, TypeVar

from headrace.credential import OWN_MECHANISM, OWN_USER, secret_of
from headrace.errors import Conflict, InvalidConfig
from headrace.wire.client.errors import ConnectionLost
from headrace.wire.codes import ErrorCode
from headrace.wire.frames import Part
from headrace.wire.messages.cluster import ApiVersionsRequest
from headrace.wire.messages.security import SaslAuthenticateRequest, SaslHandshakeRequest
from headrace.wire.packing import INT32, Malformed, Reader, Writer
from headrace.wire.protocol import API_VERSIONS, SASL_AUTHENTICATE, SASL_HANDSHAKE, Api

Request = TypeVar("Request")
Response = TypeVar("Response")

RESPONSE_BYTES_MAX: Final = 1024 * 1024 * 1024
# Kafka and this broker both answer version 3; only a newer one would need a second attempt.
API_VERSIONS_VERSION: Final = 3


class Deadline:
    """The moment by which a call must be over."""

    __slots__ = ("_at_s",)

    def __init__(self, timeout_ms: int) -> None:
        self._at_s = time.monotonic() + timeout_ms / 1000

    def left_s(self) -> float:
        return self._at_s - time.monotonic()


class BrokerConnection:
    """Connects when made. Any failure leaves it closed and raises ConnectionLost; it is then of no more use."""

    def __init__(self, address: tuple[str, int], client_id: str, deadline: Deadline) -> None:
        self.address = address
        self._client_id = client_id
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection(address, timeout=max(deadline.left_s(), 0.001))
        except OSError as error:
            raise ConnectionLost(f"broker {address[0]}:{address[1]} cannot be reached: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._ranges: dict[int, tuple[int, int]] = {}
        answer = self.send(API_VERSIONS, ApiVersionsRequest("headrace", "1"), deadline, API_VERSIONS_VERSION)
        self._ranges = {entry.api_key: (entry.min_version, entry.max_version) for entry in answer.api_keys}
        secret = secret_of(f"{address[0]}:{address[1]}")
        if secret is not None:
            self._authenticate(secret, deadline)

    def _authenticate(self, secret: str, deadline: Deadline) -> None:
        """As one of our own parts. The broker proves that it knows the secret too. Raises Conflict."""
        from scramp import ScramClient, ScramException  # noqa: PLC0415 - for brokers elsewhere it is not needed

        scram = ScramClient([OWN_MECHANISM], OWN_USER, secret)
        handshake = self.send(SASL_HANDSHAKE, SaslHandshakeRequest(OWN_MECHANISM), deadline)
        try:
            self._require(handshake.error_code is ErrorCode.NONE)
            scram.set_server_first(self._exchanged(scram.get_client_first(), deadline))
            scram.set_server_final(self._exchanged(scram.get_client_final(), deadline))
        except ScramException:
            self._require(False)

    def _exchanged(self, message: str, deadline: Deadline) -> str:
        answer = self.send(SASL_AUTHENTICATE, SaslAuthenticateRequest(message.encode()), deadline)
        self._require(answer.error_code is ErrorCode.NONE)
        return answer.auth_bytes.decode()

    def _require(self, accepted: bool) -> None:
        if not accepted:
            self.close()
            host, port = self.address
            raise Conflict(
                f"broker {host}:{port} does not know the credential of the data directory",
                hint="another broker listens there, or the file was replaced while it ran: start Headrace again",
            )

    def close(self) -> None:
        self._socket.close()

    @property
    def is_stale(self) -> bool:
        """Whether the broker closed it meanwhile, as it does with idle ones. Asked between requests."""
        if self._socket.fileno() < 0:
            return True
        readable = select.poll()
        readable.register(self._socket, select.POLLIN)
        return bool(readable.poll(0))

    def version_of(self, api: Api[Request, Response]) -> int:
        """The newest version that both sides speak. Raises InvalidConfig when there is none."""
        least, most = self._ranges.get(api.key, (0, -1))
        version = min(most, api.version_max if api.client_version_max is None else api.client_version_max)
        if version < max(least, api.version_min):
            host, port = self.address
            raise InvalidConfig(
                f"broker {host}:{port} does not speak {api.name}", hint="use a broker of Kafka 2.1 or newer"
            )
        return version

    def send(
        self, api: Api[Request, Response], request: Request, deadline: Deadline, version: int | None = None
    ) -> Response:
        """One request and its response."""
        spoken = self.version_of(api) if version is None else version
        self._correlation_id += 1
        try:
            self._write([self._header(api, spoken), *api.codec.encode_request(spoken, request)], deadline)
            reader = Reader(self._read_frame(deadline))
            if reader.int32() != self._correlation_id:
                raise Malformed("the answer to another request")
            reader.skip_tagged_fields(api.flexible_response(spoken))
            return api.codec.decode_response(spoken, reader)
        except (OSError, Malformed) as error:
            self.close()
            host, port = self.address
            raise ConnectionLost(f"connection to broker {host}:{port} broke during {api.name}: {error}") from None

    def _header(self, api: Api[Request, Response], version: int) -> bytes:
        writer = Writer()
        writer.int16(api.key)
        writer.int16(version)
        writer.int32(self._correlation_id)
        writer.string(self._client_id)
        writer.no_tagged_fields(api.flexible_request(version))
        return writer.getvalue()

    def _write(self, parts: list[Part], deadline: Deadline) -> None:
        self._socket.settimeout(max(deadline.left_s(), 0.001))
        size = sum(len(part) for part in parts)
        self._socket.sendall(b"".join([INT32.pack(size), *parts]))

    def _read_frame(self, deadline: Deadline) -> bytearray:
        size = INT32.unpack(self._read(4, deadline))[0]
        if not 4 <= size <= RESPONSE_BYTES_MAX:
            raise ConnectionError(f"an answer of {size} bytes")
        return self._read(size, deadline)

    def _read(self, size: int, deadline: Deadline) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            self._socket.settimeout(max(deadline.left_s(), 0.001))
            received = self._socket.recv_into(view)
            if not received:
                raise ConnectionError("closed by the broker")
            view = view[received:]
        return buffer
