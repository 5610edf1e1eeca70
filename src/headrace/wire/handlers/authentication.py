"""SaslHandshake, SaslAuthenticate."""

from __future__ import annotations

import asyncio
from typing import Final

from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.event_log import EventLog
from headrace.wire.messages.security import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from headrace.wire.services import Call, Services

# Before a failure is answered, so that guessing takes time.
FAILURE_DELAY_S: Final = 0.1
# Tokens of version 0 follow without any header; clients since 2017 need not do so.
_WITHOUT_HEADERS: Final = 0

_log = EventLog()


def sasl_handshake(services: Services, call: Call, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    session = call.session
    if not session.mechanisms or call.version == _WITHOUT_HEADERS:
        session.rejected = bool(session.mechanisms)
        return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, session.mechanisms)
    try:
        session.choose(request.mechanism)
    except Refusal as refusal:
        return SaslHandshakeResponse(refusal.code, session.mechanisms)
    return SaslHandshakeResponse(ErrorCode.NONE, session.mechanisms)


async def sasl_authenticate(
    services: Services, call: Call, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse:
    """Hashing takes milliseconds and is done beside the loop."""
    try:
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(None, call.session.answer, request.auth_bytes)
    except Refusal as refusal:
        _log.warning("authentication failed", client=call.client_host, reason=refusal.message)
        await asyncio.sleep(FAILURE_DELAY_S)
        return SaslAuthenticateResponse(refusal.code, refusal.message)
    return SaslAuthenticateResponse(ErrorCode.NONE, None, answer)
