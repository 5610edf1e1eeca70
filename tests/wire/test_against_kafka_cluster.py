"""Questions about the cluster as a whole, to our broker and to a real Apache Kafka: the answers must be the same.

What differs on purpose is listed in docs/kafka-differences.md, and here where a question meets it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.wire import protocol
from headrace.wire.asking import Asker, asking, names
from headrace.wire.messages import cluster, partitions, security
from headrace.wire.testing import BrokerProcess

pytestmark = pytest.mark.slow


def without_authentication(ask: Asker) -> Any:
    anything = security.DescribeAclsRequest(1, None, None, None, 1, 1, 1)
    users = security.DescribeScramRequest((security.UserName("nobody"),))
    creation = security.AclCreation(2, "t", "User:a", "*", 3, 3)
    return [
        names(ask(protocol.DESCRIBE_ACLS, anything)),
        names(ask(protocol.CREATE_ACLS, security.CreateAclsRequest((creation,)))),
        names(ask(protocol.DESCRIBE_USER_SCRAM_CREDENTIALS, users)),
    ]


def setting_quotas(ask: Asker) -> Any:
    def tried(kind: str, key: str, value: float, *, remove: bool = False) -> list[str]:
        entry = security.AlteredQuota(
            (security.QuotaEntity(kind, "q"),), (security.QuotaOperation(key, value, remove),)
        )
        return names(ask(protocol.ALTER_CLIENT_QUOTAS, security.AlterQuotasRequest((entry,))))

    return [
        tried("client-id", "producer_byte_rate", 1e6),
        tried("client-id", "no_such_rate", 1e6),
        tried("client-id", "producer_byte_rate", -1.0),
        tried("odd", "producer_byte_rate", 1e6),
        tried("client-id", "producer_byte_rate", 0.0, remove=True),
    ]


def electing_leaders(ask: Asker) -> Any:
    ask.create("elected")
    wanted = partitions.ElectLeadersRequest((partitions.TopicPartitions("elected", (0, 5)),))
    (topic,) = ask(protocol.ELECT_LEADERS, wanted).replica_election_results
    return sorted((p.partition_id, p.error_code.name) for p in topic.partition_result)


@pytest.mark.parametrize(
    "ask", [without_authentication, setting_quotas, electing_leaders], ids=lambda ask: ask.__name__
)
def test_answers_are_those_of_kafka(shared_broker: BrokerProcess, kafka: str, ask: Callable[[Asker], Any]) -> None:
    with asking(shared_broker.bootstrap) as ours, asking(kafka) as theirs:
        assert ask(ours) == ask(theirs)


def test_every_api_of_kafka_that_a_client_uses_is_there(shared_broker: BrokerProcess, kafka: str) -> None:
    """What is missing is listed with its reason in docs/kafka-differences.md."""

    def spoken(bootstrap: str) -> dict[int, tuple[int, int]]:
        with asking(bootstrap) as ask:
            found = ask(protocol.API_VERSIONS, cluster.ApiVersionsRequest("asker", "1"), 3)
        return {entry.api_key: (entry.min_version, entry.max_version) for entry in found.api_keys}

    ours, theirs = spoken(shared_broker.bootstrap), spoken(kafka)
    missing = {27, 34, *range(38, 42), 45, 55, 57, 64, 71, 72, 74, *range(76, 88), *range(90, 93)}
    assert set(theirs) - set(ours) <= missing
    assert {key for key in ours if ours[key][0] > theirs[key][0]} == set()
