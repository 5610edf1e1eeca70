"""Who gets in, and what they may do there: TLS, SASL, access control lists, quotas."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from tests.kafka_clients import AdminClient, Consumer, Producer
from tests.missing import skip_without

from headrace.errors import Conflict, CorruptData, InvalidConfig, NotFound
from headrace.wire import protocol
from headrace.wire.client import Client
from headrace.wire.client.connection import BrokerConnection, Deadline
from headrace.wire.client.errors import ConnectionLost
from headrace.wire.codes import ErrorCode
from headrace.wire.config import BrokerConfig, load_config
from headrace.wire.listener import principal_of
from headrace.wire.messages import security as messages
from headrace.wire.messages.cluster import MetadataRequest
from headrace.wire.testing import BrokerProcess
from headrace.wire.users import list_users, remove_user, set_password

DEADLINE_S = 30.0
PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate_of(tmp_path_factory.mktemp("tls"), "/CN=alice/O=Tests")


def certificate_of(directory: Path, subject: str) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        skip_without("openssl is not installed", "TLS is", "apt-get install openssl")
    certificate, key = directory / "server.pem", directory / "server.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", subject]
    files = ["-keyout", str(key), "-out", str(certificate)]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return certificate, key


def start(directory: Path, settings: str) -> BrokerProcess:
    config = directory / "broker.toml"
    config.write_text(settings)
    broker = BrokerProcess(directory / "data", "--config", str(config))
    broker.start()
    return broker


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path]) -> Iterator[BrokerProcess]:
    """TLS and every mechanism; `admin` may do everything, `alice` and `bob` what they are allowed."""
    directory = tmp_path_factory.mktemp("secured")
    for user in ("admin", "alice", "bob"):
        set_password(directory / "data", user, PASSWORD)
    broker = start(
        directory,
        f"""
        tls_certificate = "{certificate[0]}"
        tls_key = "{certificate[1]}"
        sasl_mechanisms = ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"]
        super_users = ["admin"]
        local_port = 0
        """,
    )
    yield broker
    assert broker.stop() == 0
    assert "request failed" not in broker.log
    assert PASSWORD not in broker.log


@pytest.fixture
def client(secured: BrokerProcess, certificate: tuple[Path, Path]) -> Any:
    """Settings of a client that authenticates as a user."""

    def settings(user: str, mechanism: str = "SCRAM-SHA-512", password: str = PASSWORD) -> dict[str, Any]:
        return {
            "bootstrap.servers": secured.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(certificate[0]),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }

    return settings


def allow(admin: AdminClient, principal: str, operation: AclOperation, kind: ResourceType, name: str) -> AclBinding:
    acl = AclBinding(kind, name, ResourcePatternType.LITERAL, principal, "*", operation, AclPermissionType.ALLOW)
    admin.create_acls([acl])[acl].result(DEADLINE_S)
    return acl


def produced(settings: dict[str, Any], topic: str) -> str | None:
    """The name of the error that a record got, or None."""
    errors: list[Any] = []
    producer = Producer({**settings, "message.timeout.ms": 10_000})
    producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(DEADLINE_S) == 0
    return None if errors[0] is None else str(errors[0].name())


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
def test_the_right_password_gets_in_and_a_wrong_one_does_not(client: Any, mechanism: str) -> None:
    assert AdminClient(client("admin", mechanism)).list_topics(timeout=DEADLINE_S).brokers
    for user, password in [("admin", "wrong"), ("nobody", PASSWORD)]:
        errors: list[KafkaError] = []
        settings: dict[str, Any] = {**client(user, mechanism, password), "error_cb": errors.append, "log_level": 0}
        refused = AdminClient(settings)
        with pytest.raises(KafkaException):
            refused.list_topics(timeout=1)
        refused.poll(0)
        assert KafkaError._AUTHENTICATION in [error.code() for error in errors]


def test_nothing_is_said_to_a_client_that_does_not_authenticate(
    secured: BrokerProcess, certificate: tuple[Path, Path]
) -> None:
    with pytest.raises(ConnectionLost):
        Client(secured.bootstrap, timeout_ms=1_000).metadata([])
    stranger = AdminClient(
        {
            "bootstrap.servers": secured.bootstrap,
            "security.protocol": "SSL",
            "ssl.ca.location": str(certificate[0]),
            "log_level": 0,
        }
    )
    with pytest.raises(KafkaException):
        stranger.list_topics(timeout=1)
    assert "before authentication" in secured.log


def test_acls_decide_what_a_user_may_do(client: Any) -> None:
    admin = AdminClient(client("admin"))
    admin.create_topics([NewTopic("private", 1, 1)])["private"].result(DEADLINE_S)
    alice = client("alice")
    powerless = AdminClient(alice)
    with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
        powerless.create_topics([NewTopic("mine", 1, 1)])["mine"].result(DEADLINE_S)
    assert "private" not in AdminClient(alice).list_topics(timeout=DEADLINE_S).topics
    assert produced(alice, "private") == "TOPIC_AUTHORIZATION_FAILED"
    allow(admin, "User:alice", AclOperation.WRITE, ResourceType.TOPIC, "private")
    assert produced(alice, "private") is None
    assert "private" in AdminClient(alice).list_topics(timeout=DEADLINE_S).topics
    assert produced(client("bob"), "private") == "TOPIC_AUTHORIZATION_FAILED"


def first_answer(consumer: Consumer) -> Any:
    ends_at = time.monotonic() + DEADLINE_S
    while time.monotonic() < ends_at:
        message = consumer.poll(0.5)
        if message is not None:
            return message
    raise AssertionError("neither a record nor an error came")


def test_reading_needs_the_topic_and_the_group(client: Any) -> None:
    admin = AdminClient(client("admin"))
    admin.create_topics([NewTopic("readable", 1, 1)])["readable"].result(DEADLINE_S)
    assert produced(client("admin"), "readable") is None
    settings = {**client("bob"), "group.id": "readers", "auto.offset.reset": "earliest"}
    allow(admin, "User:bob", AclOperation.READ, ResourceType.TOPIC, "readable")
    consumer = Consumer(settings)
    consumer.subscribe(["readable"])
    assert first_answer(consumer).error().name() == "GROUP_AUTHORIZATION_FAILED"
    consumer.close()
    allow(admin, "User:bob", AclOperation.READ, ResourceType.GROUP, "readers")
    consumer = Consumer(settings)
    consumer.subscribe(["readable"])
    message = first_answer(consumer)
    assert (message.error(), message.value()) == (None, b"x")
    consumer.close()


def test_acls_are_listed_and_deleted(client: Any) -> None:
    admin = AdminClient(client("admin"))
    acl = allow(admin, "User:carol", AclOperation.DESCRIBE, ResourceType.GROUP, "listed")
    anything: Any = None
    wanted = AclBindingFilter(
        ResourceType.ANY,
        anything,
        ResourcePatternType.ANY,
        "User:carol",
        anything,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    assert admin.describe_acls(wanted).result(DEADLINE_S) == [acl]
    assert admin.delete_acls([wanted])[wanted].result(DEADLINE_S) == [acl]
    assert admin.describe_acls(wanted).result(DEADLINE_S) == []
    powerless = AdminClient(client("alice"))
    with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
        powerless.delete_acls([wanted])[wanted].result(DEADLINE_S)
    senseless = AclBinding(
        ResourceType.TOPIC,
        "t",
        ResourcePatternType.LITERAL,
        "User:carol",
        "*",
        AclOperation.IDEMPOTENT_WRITE,
        AclPermissionType.ALLOW,
    )
    with pytest.raises(KafkaException, match="IDEMPOTENT_WRITE of a TOPIC"):
        admin.create_acls([senseless])[senseless].result(DEADLINE_S)


def test_passwords_are_changed_by_an_administrator(client: Any, secured: BrokerProcess) -> None:
    admin: Any = AdminClient(client("admin"))
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    upsertion = UserScramCredentialUpsertion("dave", info, b"first secret")
    admin.alter_user_scram_credentials([upsertion])["dave"].result(DEADLINE_S)
    dave = client("dave", "SCRAM-SHA-256", "first secret")
    assert AdminClient(dave).list_topics(timeout=DEADLINE_S).brokers
    described = admin.describe_user_scram_credentials(["dave"])["dave"].result(DEADLINE_S)
    assert [(i.mechanism, i.iterations) for i in described.scram_credential_infos] == [
        (ScramMechanism.SCRAM_SHA_256, 4096)
    ]
    kept = (secured.data_dir / "security.json").read_text()
    assert "first secret" not in kept
    assert (secured.data_dir / "security.json").stat().st_mode & 0o077 == 0
    deletion = UserScramCredentialDeletion("dave", ScramMechanism.SCRAM_SHA_256)
    admin.alter_user_scram_credentials([deletion])["dave"].result(DEADLINE_S)
    with pytest.raises(KafkaException, match="RESOURCE_NOT_FOUND"):
        admin.describe_user_scram_credentials(["dave"])["dave"].result(DEADLINE_S)
    weak = UserScramCredentialUpsertion("dave", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 100), b"x")
    with pytest.raises(KafkaException, match="4096 to 16384"):
        admin.alter_user_scram_credentials([weak])["dave"].result(DEADLINE_S)


@pytest.fixture
def local(secured: BrokerProcess) -> Iterator[BrokerConnection]:
    opened = BrokerConnection(("127.0.0.1", secured.local_port), "local", Deadline(10_000))
    yield opened
    opened.close()


def test_processes_of_the_machine_have_a_port_of_their_own(secured: BrokerProcess, local: BrokerConnection) -> None:
    with Client(f"127.0.0.1:{secured.local_port}") as client:
        client.create_topics({"local": 1})
    answer = local.send(protocol.METADATA, MetadataRequest(()), Deadline(10_000))
    assert answer.brokers[0].port == secured.local_port


def test_a_client_above_its_quota_is_slowed_and_told_so(client: Any, local: BrokerConnection) -> None:
    admin = AdminClient(client("admin"))
    admin.create_topics([NewTopic("metered", 1, 1)])["metered"].result(DEADLINE_S)
    entity = (messages.QuotaEntity("user", "admin"), messages.QuotaEntity("client-id", "heavy"))
    limit = messages.QuotaOperation("producer_byte_rate", 10_000.0, False)
    altered = local.send(
        protocol.ALTER_CLIENT_QUOTAS,
        messages.AlterQuotasRequest((messages.AlteredQuota(entity, (limit,)),)),
        Deadline(10_000),
    )
    assert [entry.error_code for entry in altered.entries] == [ErrorCode.NONE]
    wanted = messages.DescribeQuotasRequest((messages.QuotaComponent("client-id", 0, "heavy"),))
    described = local.send(protocol.DESCRIBE_CLIENT_QUOTAS, wanted, Deadline(10_000))
    assert described.entries == (messages.QuotaEntry(entity, (messages.QuotaValue("producer_byte_rate", 10_000.0),)),)
    throttles: list[int] = []
    for name, values in (("heavy", 3), ("light", 3)):
        producer = Producer(
            {
                **client("admin"),
                "client.id": name,
                "linger.ms": 0,
                "throttle_cb": lambda event: throttles.append(event.throttle_time),
            }
        )
        started = time.monotonic()
        for _ in range(values):
            producer.produce("metered", b"x" * 10_000)
            assert producer.flush(DEADLINE_S) == 0
        producer.poll(0)
        if name == "heavy":
            # Three seconds' worth, one of which may be taken at once; the last is answered before its wait.
            assert time.monotonic() - started > 0.9
            assert throttles
            throttles.clear()
    assert throttles == []


def test_a_stranger_can_neither_stay_nor_send_much(tmp_path: Path) -> None:
    broker = start(tmp_path, 'sasl_mechanisms = ["SCRAM-SHA-512"]\nauthentication_ms_max = 200')
    try:
        loud = socket.create_connection(("127.0.0.1", broker.port), timeout=DEADLINE_S)
        with loud, suppress(ConnectionResetError):
            loud.sendall((1_000_000).to_bytes(4, "big"))
            assert loud.recv(1) == b""
        assert "a frame of 1000000 bytes; at most 524288" in broker.log
        stranger = socket.create_connection(("127.0.0.1", broker.port), timeout=DEADLINE_S)
        with stranger, suppress(ConnectionResetError):
            assert stranger.recv(1) == b""
        assert "no authentication within 200 ms" in broker.log
    finally:
        broker.stop()


def test_a_certificate_can_be_the_proof(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    public, key = certificate
    broker = start(
        tmp_path,
        f"""
        tls_certificate = "{public}"
        tls_key = "{key}"
        tls_client_ca = "{public}"
        super_users = ["O=Tests,CN=alice"]
        """,
    )
    try:
        settings: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap,
            "security.protocol": "SSL",
            "ssl.ca.location": str(public),
            "log_level": 0,
        }
        proof = {"ssl.certificate.location": str(public), "ssl.key.location": str(key)}
        assert produced({**settings, **proof}, "proved") is None
        with pytest.raises(KafkaException):
            AdminClient(settings).list_topics(timeout=1)
    finally:
        broker.stop()


@pytest.mark.parametrize(
    ("subject", "principal"),
    [
        (((("organizationName", "Acme"),), (("commonName", "boss"),)), "CN=boss,O=Acme"),
        (((("commonName", "boss,O=Acme"),),), "CN=boss\\,O\\=Acme"),
        (((("commonName", "a"), ("userId", "b")),), "CN=a+UID=b"),
        (((("commonName", "a+UID=b"),),), "CN=a\\+UID\\=b"),
        (((("commonName", ' #a "b" <c>;\\ '),),), 'CN=\\ \\#a \\"b\\" \\<c\\>\\;\\\\\\ '),
        (((("commonName", "   "),),), "CN=\\ \\ \\ "),
        (((("emailAddress", "a@b.example"),), (("domainComponent", "x"),)), "DC=x,emailAddress=a@b.example"),
        ((), ""),
    ],
)
def test_a_subject_is_written_as_kafka_writes_it(subject: tuple[Any, ...], principal: str) -> None:
    assert principal_of({"subject": subject}) == f"User:{principal}"


def test_a_name_cannot_pass_for_a_longer_subject(tmp_path: Path) -> None:
    """A certificate whose one name holds the rest of another subject is not that subject."""
    public, key = certificate_of(tmp_path, "/CN=boss,O=Acme")
    settings = f"""
        tls_certificate = "{public}"
        tls_key = "{key}"
        tls_client_ca = "{public}"
        super_users = ["CN=boss,O=Acme"]
        """
    broker = start(tmp_path, settings)
    try:
        proof: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap,
            "security.protocol": "SSL",
            "ssl.ca.location": str(public),
            "ssl.certificate.location": str(public),
            "ssl.key.location": str(key),
            "log_level": 0,
        }
        assert produced(proof, "stolen") == "TOPIC_AUTHORIZATION_FAILED"
    finally:
        broker.stop()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"host": "0.0.0.0"}, "no authentication is set up"),
        ({"host": "0.0.0.0", "sasl_mechanisms": ("PLAIN",)}, "unencrypted"),
        ({"sasl_mechanisms": ("GSSAPI",)}, "GSSAPI"),
        ({"tls_certificate": Path("x")}, "go together"),
        ({"tls_client_ca": Path("x")}, "tls_certificate is not"),
        ({"authorization": "trust"}, "authorization is 'trust'"),
        ({"local_port": 70_000}, "local_port is 70000"),
    ],
)
def test_a_careless_configuration_is_refused(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        BrokerConfig(data_dir=tmp_path, **settings)
    assert BrokerConfig(data_dir=tmp_path, host="0.0.0.0", sasl_mechanisms=("SCRAM-SHA-512",)).authenticated


def test_security_settings_come_from_the_config_file(tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text('data_dir = "d"\nsasl_mechanisms = ["PLAIN"]\nsuper_users = ["a"]\ntls_client_ca = "ca.pem"')
    with pytest.raises(InvalidConfig, match="tls_certificate is not"):
        load_config(path)
    path.write_text('data_dir = "d"\nsasl_mechanisms = ["PLAIN"]\nsuper_users = ["a"]')
    assert load_config(path).sasl_mechanisms == ("PLAIN",)


def test_users_are_set_listed_and_removed_while_no_broker_runs(tmp_path: Path) -> None:
    set_password(tmp_path / "data", "eve", "one")
    set_password(tmp_path / "data", "eve", "two")
    assert list_users(tmp_path / "data") == {"eve": ("SCRAM-SHA-256", "SCRAM-SHA-512")}
    broker = BrokerProcess(tmp_path / "data")
    broker.start()
    try:
        with pytest.raises(Conflict, match="in use by process") as refused:
            set_password(tmp_path / "data", "eve", "three")
        assert "kafka-configs" in (refused.value.hint or "")
    finally:
        broker.stop()
    remove_user(tmp_path / "data", "eve")
    with pytest.raises(NotFound, match="no user 'eve'"):
        remove_user(tmp_path / "data", "eve")


def test_a_broken_security_file_keeps_the_broker_from_starting(tmp_path: Path) -> None:
    set_password(tmp_path, "eve", "one")
    (tmp_path / "security.json").write_text("{}")
    with pytest.raises(CorruptData, match=r"security\.json cannot be read"):
        list_users(tmp_path)
