"""A key lands where every Kafka client would put it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as reference
from hypothesis import given
from hypothesis import strategies as st

from headrace.spark.writing.partitioner import by_partition, murmur2, partitions_of


@given(st.binary(max_size=64))
def test_the_hash_is_kafkas(data: bytes) -> None:
    assert murmur2(data) == reference(data) & 0xFFFFFFFF


@given(st.lists(st.none() | st.binary(max_size=8), max_size=50), st.integers(1, 9))
def test_rows_go_to_the_partition_of_their_key(keys: list[bytes | None], count: int) -> None:
    chosen = partitions_of(pa.array(keys, pa.binary()), count, keyless=count - 1)
    everywhere = list(range(count))
    expected = [count - 1 if key is None else DefaultPartitioner()(key, everywhere, everywhere) for key in keys]
    assert chosen.tolist() == expected if count > 1 else set(chosen.tolist()) <= {0}


@given(st.lists(st.integers(0, 4), max_size=60))
def test_groups_keep_every_row_once_and_in_order(chosen: list[int]) -> None:
    groups = by_partition(np.array(chosen, np.int64), 5)
    assert {p: i.to_pylist() for p, i in groups} == {
        partition: [index for index, value in enumerate(chosen) if value == partition] for partition in set(chosen)
    }
