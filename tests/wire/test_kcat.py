"""kcat, with an older librdkafka than confluent-kafka brings."""

from __future__ import annotations

import json
import subprocess

import pytest

from headrace.log import parse_batches
from headrace.wire.testing import BrokerProcess

DEADLINE_S = 60.0
CODEC_NUMBERS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def run_kcat(kcat: str, broker: BrokerProcess, *arguments: str, given: str = "") -> str:
    command = [kcat, "-b", broker.bootstrap, *arguments]
    done = subprocess.run(command, input=given.encode(), capture_output=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_pass_with_every_codec(shared_broker: BrokerProcess, kcat: str, codec: str) -> None:
    lines = [f"line {number} of {codec}" for number in range(100)]
    topic = f"kcat-{codec}"
    # It waits for all lines: of a batch that compression does not make smaller, the client sends the plain one.
    run_kcat(kcat, shared_broker, "-P", "-t", topic, "-z", codec, "-X", "linger.ms=1000", given="\n".join(lines))
    assert run_kcat(kcat, shared_broker, "-C", "-t", topic, "-e", "-q").splitlines() == lines
    # The trap: librdkafka before 2.11.1 silently stops compressing when it dislikes the advertised versions.
    stored = next(shared_broker.data_dir.glob(f"{topic}-0/*.log")).read_bytes()
    assert CODEC_NUMBERS[codec] in {header.codec_number for header in parse_batches(stored)}


def test_metadata_lists_brokers_and_topics(shared_broker: BrokerProcess, kcat: str) -> None:
    run_kcat(kcat, shared_broker, "-P", "-t", "kcat-listed", given="one")
    listed = json.loads(run_kcat(kcat, shared_broker, "-L", "-J"))
    assert [entry["name"] for entry in listed["brokers"]] == [shared_broker.bootstrap]
    assert "kcat-listed" in {entry["topic"] for entry in listed["topics"]}


def test_an_idempotent_transactional_producer_and_a_group(shared_broker: BrokerProcess, kcat: str) -> None:
    run_kcat(kcat, shared_broker, "-P", "-t", "kcat-tx", "-X", "transactional.id=kcat", given="a\nb")
    out = run_kcat(
        kcat, shared_broker, "-G", "kcat-group", "-e", "-q", "-X", "auto.offset.reset=earliest", "-X",
        "isolation.level=read_committed", "kcat-tx",
    )  # fmt: skip
    assert out.splitlines() == ["a", "b"]


def test_offsets_by_time(shared_broker: BrokerProcess, kcat: str) -> None:
    run_kcat(kcat, shared_broker, "-P", "-t", "kcat-timed", given="now")
    assert run_kcat(kcat, shared_broker, "-Q", "-t", "kcat-timed:0:1000").strip() == "kcat-timed [0] offset 0"
