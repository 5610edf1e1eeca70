"""Kafka's own choice of partition for a key, vectorised: a key lands where every Kafka client would put it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

KEYS_REMEMBERED = 16_384

_SEED = 0x9747B28C
_M = np.uint32(0x5BD1E995)


def partitions_of(keys: pa.Array[Any], partition_count: int, keyless: int) -> NDArray[np.int64]:
    """The partition of each row; rows without a key go to `keyless`."""
    if partition_count == 1:
        return np.zeros(len(keys), np.int64)
    encoded: Any = keys.cast(pa.binary()).dictionary_encode()
    hashes = np.array([murmur2(key) for key in encoded.dictionary.to_pylist()], np.int64)
    chosen: NDArray[np.int64] = np.append((hashes & 0x7FFFFFFF) % partition_count, keyless)
    rows: NDArray[np.int64] = encoded.indices.fill_null(len(hashes)).to_numpy(zero_copy_only=False)
    return chosen[rows]


@lru_cache(KEYS_REMEMBERED)
def murmur2(data: bytes) -> int:
    """Kafka's 32-bit MurmurHash2, unsigned. Called once for each different key of a batch; many come in every one."""
    length = len(data)
    h = (_SEED ^ length) & 0xFFFFFFFF
    whole = length - length % 4
    words = np.frombuffer(data, "<u4", whole // 4)
    with np.errstate(over="ignore"):
        mixed = words * _M
        mixed ^= mixed >> np.uint32(24)
        mixed *= _M
    for word in mixed.tolist():
        h = ((h * 0x5BD1E995) & 0xFFFFFFFF) ^ word
    if rest := data[whole:]:
        h ^= int.from_bytes(rest, "little")
        h = (h * 0x5BD1E995) & 0xFFFFFFFF
    h ^= h >> 13
    h = (h * 0x5BD1E995) & 0xFFFFFFFF
    return h ^ (h >> 15)


def by_partition(chosen: NDArray[np.int64], partition_count: int) -> list[tuple[int, pa.Array[Any]]]:
    """Partition → the indices of its rows, in order; partitions without rows are left out."""
    if partition_count == 1:
        return [(0, pa.array(np.arange(len(chosen))))] if len(chosen) else []
    order = np.argsort(chosen, kind="stable")
    edges = np.searchsorted(chosen[order], np.arange(partition_count + 1))
    spans = [(partition, edges[partition], edges[partition + 1]) for partition in range(partition_count)]
    return [(partition, pa.array(order[first:last])) for partition, first, last in spans if first < last]
