"""The order in which Java walks through a HashMap: several tools print in it, and scripts compare what they print."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

from barnabas.kernel.java.string_hash import java_hash

DEFAULT_CAPACITY: Final = 16

K = TypeVar("K", bound=Hashable)


def hash_code(text: str) -> int:
    """`String.hashCode`, without its sign."""
    return java_hash(text) & 0xFFFFFFFF


def partition_hash_code(partition: tuple[str, int]) -> int:
    """`TopicPartition.hashCode`, without its sign."""
    topic, index = partition
    return (31 * (31 + index) + hash_code(topic)) & 0xFFFFFFFF


def hash_map_order(keys: Iterable[str], capacity: int = DEFAULT_CAPACITY) -> list[str]:
    """The keys, put into a map of `capacity` in the order in which they are given."""
    return map_order(keys, hash_code, capacity)


def partition_map_order(keys: Iterable[tuple[str, int]], capacity: int = DEFAULT_CAPACITY) -> list[tuple[str, int]]:
    """As `hash_map_order`, of partitions."""
    return map_order(keys, partition_hash_code, capacity)


def map_order(keys: Iterable[K], hash_of: Callable[[K], int], capacity: int) -> list[K]:
    """As `hash_map_order`, of anything whose hash is known."""
    listed = list(dict.fromkeys(keys))
    size = 1
    while size < capacity:
        size *= 2
    while len(listed) > size * 3 // 4:
        size *= 2

    def bucket(key: K) -> int:
        spread = hash_of(key)
        return (spread ^ spread >> 16) & (size - 1)

    return sorted(listed, key=bucket)
