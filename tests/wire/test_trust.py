"""Who may write what our own parts rely on: signals, commit records, schemas. Tried as another account could."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from tests.kafka_clients import AdminClient, Consumer, Producer

from headrace.credential import CREDENTIAL_FILE, OWN_USER, VARIABLE, client_settings, use_credential
from headrace.errors import Conflict, InvalidInput
from headrace.log import encode_batches
from headrace.signals import SIGNALS_TOPIC, SignalRequest
from headrace.wire import protocol
from headrace.wire.asking import asking
from headrace.wire.client import Client
from headrace.wire.client.signals import send_signal
from headrace.wire.codes import ErrorCode
from headrace.wire.messages import security
from headrace.wire.testing import BrokerProcess
from headrace.wire.users import list_users, set_password

DEADLINE_S = 30.0
COMMITS = "__commits.pay.q"
DENIED = "TOPIC_AUTHORIZATION_FAILED"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker as it is without any settings, with topics of our own parts."""
    broker = BrokerProcess(tmp_path_factory.mktemp("trust") / "data")
    broker.start()
    with Client(broker.bootstrap) as own:
        own.create_topics({COMMITS: 1, "_schemas": 1, "orders": 1})
        own.produce({COMMITS: {0: record(b"{}")}, "_schemas": {0: record(b"{}")}})
        send_signal(own, SignalRequest("s", "pause", ("orders",)))
    yield broker
    assert broker.stop() == 0


@contextmanager
def running(directory: Path, settings: str, *arguments: str) -> Iterator[BrokerProcess]:
    (directory / "broker.toml").write_text(settings)
    broker = BrokerProcess(directory / "data", "--config", str(directory / "broker.toml"), *arguments)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def record(value: bytes) -> bytes:
    return b"".join(encode_batches([b"k"], [value], [1_000], codec="none"))


def produced(address: str, topic: str, **settings: Any) -> str | None:
    """What a client that only speaks Kafka is told; None where the record was taken."""
    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": address, "message.timeout.ms": 10_000, "log_level": 0, **settings})
    value = b'{"id": "x", "kind": "pause", "topics": ["orders"]}'
    producer.produce(topic, value, key=b"x", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(DEADLINE_S) == 0
    return None if errors[0] is None else str(errors[0].name())


@pytest.mark.parametrize("topic", [COMMITS, "_schemas", SIGNALS_TOPIC])
def test_a_stranger_cannot_write_what_our_parts_rely_on(guarded: BrokerProcess, topic: str) -> None:
    assert produced(guarded.bootstrap, topic) == DENIED
    assert produced(guarded.bootstrap, topic, **client_settings(guarded.bootstrap)) in (None, "INVALID_RECORD")


def test_nor_delete_empty_grow_change_or_create_it(guarded: BrokerProcess) -> None:
    stranger: Any = AdminClient({"bootstrap.servers": guarded.bootstrap, "log_level": 0})
    short = ConfigEntry("retention.ms", "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, COMMITS, incremental_configs=[short])
    tried = [
        stranger.delete_topics([COMMITS])[COMMITS],
        next(iter(stranger.delete_records([TopicPartition(COMMITS, 0, 1)]).values())),
        stranger.create_partitions([NewPartitions(COMMITS, 3)])[COMMITS],
        stranger.incremental_alter_configs([resource])[resource],
        stranger.create_topics([NewTopic("__commits.other.q", 1, 1)])["__commits.other.q"],
    ]
    for future in tried:
        with pytest.raises(KafkaException, match=r"(?i)authorization"):
            future.result(DEADLINE_S)
    assert produced(guarded.bootstrap, "__made.by.writing") is not None, "writing creates none either"
    with Client(guarded.bootstrap) as own:
        assert own.partition_count(COMMITS) == 1
        assert "__commits.other.q" not in own.metadata().topics
        assert "__made.by.writing" not in own.metadata().topics


def test_nor_end_its_transactions(guarded: BrokerProcess) -> None:
    settings = {"bootstrap.servers": guarded.bootstrap, "log_level": 0}
    with pytest.raises(KafkaException, match="uthorization"):
        Producer({**settings, "transactional.id": "headrace.pay.q"}).init_transactions(DEADLINE_S)
    own = Producer({**settings, "transactional.id": "someone-else"})
    own.init_transactions(DEADLINE_S)


def test_nor_give_itself_a_password_before_users_are_set_up(guarded: BrokerProcess) -> None:
    settings: Any = {"bootstrap.servers": guarded.bootstrap, "log_level": 0}
    mechanism = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion("admin", mechanism, b"guessed", b"salt")
    stranger, owner = AdminClient(settings), AdminClient({**settings, **client_settings(guarded.bootstrap)})
    with pytest.raises(KafkaException, match=r"clients that authenticate.*super_users.*log/credential") as refused:
        stranger.alter_user_scram_credentials([change])["admin"].result(DEADLINE_S)
    assert refused.value.args[0].name() == "CLUSTER_AUTHORIZATION_FAILED"
    assert list_users(guarded.data_dir) == {}
    owner.alter_user_scram_credentials([change])["admin"].result(DEADLINE_S)
    assert list_users(guarded.data_dir) == {"admin": ("SCRAM-SHA-512",)}
    gone = UserScramCredentialDeletion("admin", ScramMechanism.SCRAM_SHA_512)
    with pytest.raises(KafkaException, match="clients that authenticate"):
        stranger.alter_user_scram_credentials([gone])["admin"].result(DEADLINE_S)
    owner.alter_user_scram_credentials([gone])["admin"].result(DEADLINE_S)


def test_nor_slow_others_down_or_make_rules_for_them(guarded: BrokerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = security.AlteredQuota(
        (security.QuotaEntity("user", None),), (security.QuotaOperation("producer_byte_rate", 1.0, False),)
    )
    quick = slow._replace(ops=(slow.ops[0]._replace(remove=True),))
    rule = security.AclCreation(2, "t", "User:a", "*", 3, 3)
    with asking(guarded.bootstrap) as owner:
        monkeypatch.delenv(VARIABLE)
        with asking(guarded.bootstrap) as stranger:
            for ask, code in (
                (stranger, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
                (owner, ErrorCode.NONE),
            ):
                for change in (slow, quick):
                    (done,) = ask(protocol.ALTER_CLIENT_QUOTAS, security.AlterQuotasRequest((change,))).entries
                    assert done.error_code is code
            (made,) = stranger(protocol.CREATE_ACLS, security.CreateAclsRequest((rule,))).results
            assert made.error_code is ErrorCode.SECURITY_DISABLED, "as Kafka answers without an authorizer"


def test_a_stranger_goes_on_with_ordinary_topics_and_may_read_the_others(guarded: BrokerProcess) -> None:
    stranger = AdminClient({"bootstrap.servers": guarded.bootstrap})
    stranger.create_topics([NewTopic("mine", 1, 1)])["mine"].result(DEADLINE_S)
    assert produced(guarded.bootstrap, "mine") is None
    assert produced(guarded.bootstrap, "made-by-writing") is None
    reader = Consumer({"bootstrap.servers": guarded.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"})
    reader.assign([TopicPartition(COMMITS, 0, 0)])
    message = reader.poll(DEADLINE_S)
    assert message is not None
    assert message.value() == b"{}"
    reader.close()


def test_the_credential_is_private_and_stays_and_is_made_where_there_is_none(tmp_path: Path) -> None:
    """As with a directory of an earlier version."""
    broker = BrokerProcess(tmp_path / "data")
    path = tmp_path / "data" / CREDENTIAL_FILE
    secrets: list[str] = []
    for is_lost in (False, False, True):
        if is_lost:
            path.unlink()
        broker.start()
        assert path.stat().st_mode & 0o777 == 0o600
        secrets.append(path.read_text())
        with Client(broker.bootstrap) as own:
            own.create_topics({COMMITS: 1})
        assert broker.stop() == 0
        assert secrets[-1].strip() not in broker.log
    assert secrets[0] == secrets[1] != secrets[2]


def test_another_secret_is_none(guarded: BrokerProcess, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("guessed")
    use_credential(guarded.bootstrap, tmp_path / "other")
    try:
        with pytest.raises(Conflict, match="does not know the credential"):
            Client(guarded.bootstrap).metadata()
    finally:
        use_credential(guarded.bootstrap, guarded.data_dir / CREDENTIAL_FILE)


def test_the_plain_listener_can_be_closed(tmp_path: Path) -> None:
    """By the setting, or by the option of `headrace up`."""
    with running(tmp_path, "", "--no-anonymous") as broker:
        with pytest.raises(KafkaException):
            AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0}).list_topics(timeout=1)
        with Client(broker.bootstrap) as own:
            own.create_topics({"t": 1})
        settings = client_settings(broker.bootstrap)
        assert "t" in AdminClient({"bootstrap.servers": broker.bootstrap, **settings}).list_topics(timeout=10).topics


def test_where_users_are_set_up_the_second_port_is_for_our_own_parts_alone(tmp_path: Path) -> None:
    for user in ("admin", "alice"):
        set_password(tmp_path / "data", user, "secret")
    settings = 'sasl_mechanisms = ["SCRAM-SHA-512"]\nsuper_users = ["admin"]\nlocal_port = 0'
    with running(tmp_path, settings) as broker:
        local = f"127.0.0.1:{broker.local_port}"
        with pytest.raises(KafkaException):
            AdminClient({"bootstrap.servers": local, "log_level": 0}).list_topics(timeout=1)
        with socket.create_connection(("127.0.0.1", broker.local_port), timeout=DEADLINE_S) as raw:
            raw.sendall(b"\0\0\0\x0a\0\x03\0\x01\0\0\0\x01\xff\xff")
            assert raw.recv(1) == b"", "metadata before authentication"
        with Client(local) as own:
            own.create_topics({"orders": 1, COMMITS: 1})
        admin = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "admin",
            "sasl.password": "secret",
        }
        assert produced(broker.bootstrap, SIGNALS_TOPIC, **admin) is None, "a user with the right sends signals"
        assert produced(broker.bootstrap, SIGNALS_TOPIC, **{**admin, "sasl.username": "alice"}) == DENIED
        assert produced(broker.bootstrap, COMMITS, **admin) == DENIED, "but writes no commit records"


def test_nobody_can_be_called_as_our_own_parts_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no user name"):
        set_password(tmp_path / "data", OWN_USER, "secret")
