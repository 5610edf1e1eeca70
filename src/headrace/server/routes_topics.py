"""Topics of the broker and their messages: listed, described, created, changed, deleted, browsed, produced."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from headrace.credential import require_ordinary
from headrace.server.bodies import MessageBody, TopicBody, TopicConfigBody
from headrace.server.browsing import MESSAGES_MAX, Question, browse
from headrace.server.contents import Format
from headrace.server.models import DeletedView, MessagePage, ProducedView, TopicList, TopicView
from headrace.server.positions import parse_position
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service

FILTER_CHARACTERS_MAX = 1_000


def topics_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api/topics", tags=["topics"])
    topics = service.topics

    @router.get("")
    def list_topics() -> TopicList:
        return topics.overview()

    @router.post("", status_code=201)
    def create_topic(body: TopicBody) -> TopicView:
        return topics.create(body.name, body.partitions, body.config)

    @router.get("/{topic}")
    def show_topic(topic: str) -> TopicView:
        return topics.describe(topic)

    @router.patch("/{topic}")
    def alter_topic(topic: str, body: TopicConfigBody) -> TopicView:
        return topics.alter(topic, body.config, body.partitions)

    @router.delete("/{topic}")
    def delete_topic(topic: str) -> DeletedView:
        """The topic and all its records."""
        topics.delete(topic)
        return DeletedView(name=topic, deleted=True)

    @router.get("/{topic}/messages")
    def browse_messages(
        *,
        topic: str,
        partition: Annotated[int | None, Query(ge=0)] = None,
        start: Annotated[str, Query(alias="from")] = "latest",
        filter_text: Annotated[str | None, Query(alias="filter", max_length=FILTER_CHARACTERS_MAX)] = None,
        limit: Annotated[int, Query(ge=1, le=MESSAGES_MAX)] = 50,
        shown_as: Annotated[Format, Query(alias="format")] = "auto",
        cursor: str | None = None,
    ) -> MessagePage:
        """A page of messages: forward from earliest, offset:N or timestamp:ISO8601, backward from latest.

        Answers within a time budget with what was found by then; `cursor` (the page's `next`) continues.
        """
        question = Question(topic, parse_position(start), partition, cursor, filter_text, limit, shown_as)
        return browse(service.settings.bootstrap, question)

    @router.post("/{topic}/messages", status_code=201)
    def produce_message(topic: str, body: MessageBody) -> ProducedView:
        """Answers when the message is on disk."""
        require_ordinary(topic)
        topics.partitions(topic)
        return service.sender.send(topic, body)

    return router
