"""The order in which Java iterates over a HashMap. Kafka's tools and services print and decide in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

from barnabas.kernel.java.string_hash import java_hash

DEFAULT_CAPACITY: Final = 16
_LOAD: Final = 0.75
_MASK: Final = 0xFFFF_FFFF

K = TypeVar("K", bound=Hashable)


def hash_code(text: str) -> int:
    """`String.hashCode`, without its sign."""
    return java_hash(text) & _MASK


def partition_hash_code(partition: tuple[str, int]) -> int:
    """`TopicPartition.hashCode`, without its sign."""
    topic, index = partition
    return (31 * (31 + index) + hash_code(topic)) & _MASK


def hash_map_order(keys: Iterable[str], capacity: int = DEFAULT_CAPACITY) -> list[str]:
    """The keys of a map of this initial `capacity`, inserted in the given order."""
    return map_order(keys, hash_code, capacity)


def partition_map_order(keys: Iterable[tuple[str, int]], capacity: int = DEFAULT_CAPACITY) -> list[tuple[str, int]]:
    """As `hash_map_order`, of partitions."""
    return map_order(keys, partition_hash_code, capacity)


def map_order(keys: Iterable[K], hash_of: Callable[[K], int], capacity: int = DEFAULT_CAPACITY) -> list[K]:
    """As `hash_map_order`, of keys with this hash. Keys in one bucket keep the order of insertion."""
    listed = list(dict.fromkeys(keys))
    size = 1
    while size < capacity:
        size *= 2
    while len(listed) > size * 3 // 4:
        size *= 2

    def bucket(key: K) -> int:
        value = hash_of(key) & _MASK
        return (value ^ value >> 16) & (size - 1)

    return sorted(listed, key=bucket)


def copy_capacity(size: int) -> int:
    """The initial capacity of a HashSet that is created as a copy of a collection of this size."""
    return max(int(size / _LOAD) + 1, DEFAULT_CAPACITY)
