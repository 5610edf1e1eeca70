"""Topics of the broker: listed, described, created, deleted."""

from __future__ import annotations

from fastapi import APIRouter

from headrace.server.bodies import TopicBody
from headrace.server.models import DeletedView, TopicList, TopicView
from headrace.server.service import Service


def topics_router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/api/topics", tags=["topics"])
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

    @router.delete("/{topic}")
    def delete_topic(topic: str) -> DeletedView:
        """The topic and all its records."""
        topics.delete(topic)
        return DeletedView(name=topic, deleted=True)

    return router
