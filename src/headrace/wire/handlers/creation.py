"""Creating topics and partitions within the broker's limits; errors of the log as answers to a client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from headrace.errors import Conflict, HeadraceError, InvalidConfig, InvalidInput, NotFound
from headrace.log import LogRefusal, Topic, TopicCreation
from headrace.wire.codes import ErrorCode, Refusal
from headrace.wire.services import Services

# More new partitions of a topic are made by threads. Fewer take no longer than another request.
AT_ONCE_MAX: Final = 16
# Syncs of directories that wait together are carried out together by the file system.
THREADS: Final = 8
# Partitions that are opened before others are answered.
OPENED_AT_ONCE: Final = 8

# Not the loop's own threads: whoever authenticates needs those.
_makers: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="headrace-create")


def create_topic(services: Services, name: str, partition_count: int, config: Mapping[str, str]) -> Topic:
    """Raises a Refusal: the name exists or is none, the config is wrong, a limit is reached, the disk failed."""
    check_room(services, name, partition_count)
    with as_refusals():
        return services.store.create_topic(name, partition_count, config)


async def create_large_topic(services: Services, name: str, partition_count: int, config: Mapping[str, str]) -> Topic:
    """As `create_topic`, while the broker goes on answering others: threads wait for the disk."""
    check_room(services, name, partition_count)
    with as_refusals():
        return await _carried_out(services, services.store.begin_topic(name, partition_count, config))


async def grow_topic(services: Services, name: str, partition_count: int) -> Topic:
    """More partitions for a topic; many are made beside the loop. Called in the topic's turn. Raises a Refusal."""
    with as_refusals():
        creation = services.store.begin_growth(name, partition_count)
        if len(creation.directories) <= AT_ONCE_MAX:
            return services.store.carry_out(creation)
        return await _carried_out(services, creation)


async def _carried_out(services: Services, creation: TopicCreation) -> Topic:
    """Threads make the partitions; the loop opens a few at a time. Raises errors of the log."""
    loop = asyncio.get_running_loop()
    try:
        # The topic is not left while a thread still makes a directory of it.
        made = await asyncio.gather(
            *(loop.run_in_executor(_makers, creation.make, first, THREADS) for first in range(THREADS)),
            return_exceptions=True,
        )
        for error in made:
            if error is not None:
                raise error
        for _ in range(0, len(creation.directories), OPENED_AT_ONCE):
            services.store.open_made(creation, OPENED_AT_ONCE)
            await asyncio.sleep(0)
        return services.store.finish_creation(creation)
    finally:
        services.store.end_creation(creation)


def check_room(services: Services, name: str, partition_count: int) -> None:
    """Raises a Refusal unless a topic with so many partitions may be created."""
    if name in services.store.topics or name in services.store.creating:
        raise Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name!r} exists")
    if partition_count < 1:
        raise Refusal(ErrorCode.INVALID_PARTITIONS, "a topic has at least one partition")
    if len(services.store.topics.keys() | services.store.creating.keys()) >= services.config.topics_max:
        raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {services.config.topics_max} topics")
    check_partition_room(services, partition_count)


def check_partition_room(services: Services, added_count: int) -> None:
    """Raises a Refusal unless so many partitions may be added."""
    existing = sum(len(topic.partitions) for topic in services.store.topics.values())
    existing += sum(services.store.creating.values())
    if existing + added_count > services.config.partitions_max:
        raise Refusal(ErrorCode.POLICY_VIOLATION, f"at most {services.config.partitions_max} partitions in all")


def topic_name(services: Services, name: str, topic_id: UUID | None) -> str:
    """The name of a topic that a request names, or gives the id of. Raises a Refusal when no topic has the id."""
    if topic_id is None:
        return name
    found = services.store.name_of(topic_id)
    if found is None:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_ID, f"no topic has the id {topic_id}")
    return found


@contextmanager
def as_refusals() -> Iterator[None]:
    """Turns errors of the log into the codes that clients know."""
    try:
        yield
    except LOG_ERRORS as error:
        raise as_refusal(error) from error


LOG_ERRORS: Final = (HeadraceError, OSError)
"""What the log raises on purpose."""


def as_refusal(error: HeadraceError | OSError) -> Refusal:
    """An error of the log in the code that clients know."""
    if isinstance(error, LogRefusal):
        return Refusal(ErrorCode(error.error_code), str(error), error.record_errors)
    if isinstance(error, HeadraceError):
        return Refusal(_code_of(error), str(error))
    return Refusal(ErrorCode.KAFKA_STORAGE_ERROR, str(error))


def _code_of(error: HeadraceError) -> ErrorCode:
    kinds: tuple[tuple[type[HeadraceError], ErrorCode], ...] = (
        (NotFound, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (Conflict, ErrorCode.TOPIC_ALREADY_EXISTS),
        (InvalidConfig, ErrorCode.INVALID_CONFIG),
        (InvalidInput, ErrorCode.INVALID_TOPIC_EXCEPTION),
    )
    return next((code for kind, code in kinds if isinstance(error, kind)), ErrorCode.KAFKA_STORAGE_ERROR)
