"""Signals through the server: sent to pipelines by name, and listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headrace.errors import HeadraceError, InvalidInput
from headrace.graph import Document
from headrace.operators import Catalogue
from headrace.server.bodies import SignalBody
from headrace.server.models.signals import SignalList, SignalView
from headrace.signals import SignalRecord, SignalRequest
from headrace.spark.jobs.sending import new_id, signal_to, topics_of
from headrace.wire.client import Client
from headrace.wire.client.signals import known_signals, send_signal

BROKER_WAIT_MS: Final = 10_000


class Signals:
    """May be used by many threads. `shown` gives the document of a pipeline, `run` starts one that does not run."""

    def __init__(
        self,
        bootstrap: str,
        catalogue: Catalogue,
        shown: Callable[[str], Document],
        run: Callable[[str], object],
    ) -> None:
        self._bootstrap = bootstrap
        self._catalogue = catalogue
        self._shown = shown
        self._run = run

    def send(self, body: SignalBody) -> SignalView:
        """The signal is in its place, on disk. `start` also starts a pipeline that does not run.

        Raises InvalidInput, NotFound for the pipeline or the node, ExternalFailure.
        """
        request = self._request(body)
        with self._client() as client:
            placed = send_signal(client, request)
        if body.kind == "start" and body.pipeline is not None:
            self._run(body.pipeline)
        return _view(placed)

    def refusal(self, pipeline: str) -> str | None:
        """Why no signal can reach what ran last of a pipeline; None where one can."""
        try:
            topics_of(self._shown(pipeline))
        except HeadraceError as error:
            return error.message
        return None

    def known(self, pipeline: str | None, limit: int) -> SignalList:
        """The newest; of one pipeline also those that are for all."""
        with self._client() as client:
            found = [r for r in known_signals(client) if pipeline is None or r.request.pipeline in (None, pipeline)]
        return SignalList(signals=[_view(record) for record in found[-limit:]])

    def _request(self, body: SignalBody) -> SignalRequest:
        if body.pipeline is None:
            if not body.topics:
                raise InvalidInput("a signal is for a pipeline, or names its topics", valid=["pipeline", "topics"])
            topics = tuple(body.topics)
            return SignalRequest(
                body.id or new_id(), body.kind, topics, None, body.node, body.parameters, body.handling
            )
        if body.topics:
            raise InvalidInput("a signal to a pipeline goes to the topics that it reads", hint="leave topics out")
        return signal_to(
            self._shown(body.pipeline),
            body.kind,
            self._catalogue,
            node=body.node,
            parameters=body.parameters,
            handling=body.handling,
            id=body.id,
        )

    def _client(self) -> Client:
        return Client(self._bootstrap, client_id="headrace-server", timeout_ms=BROKER_WAIT_MS)


def _view(record: SignalRecord) -> SignalView:
    return SignalView.model_validate(record.to_json())
