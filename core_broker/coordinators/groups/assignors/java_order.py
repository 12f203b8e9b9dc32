"""The order in which a Java HashMap gives its keys.

Kafka's uniform assignor goes through members, topics and partitions in that order, so it decides who gets the odd partition.
Keys that fall into one bucket stand in the order in which they came; here that is the given order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

from barnabas.kernel.java.string_hash import java_hash

Key = TypeVar("Key")

_FIRST_CAPACITY: Final = 16
_LOAD: Final = 0.75
_MASK: Final = 0xFFFF_FFFF
_WORD: Final = 8


def _capacity(size: int) -> int:
    """Of a map that has grown one key at a time: it doubles when it is more than three quarters full."""
    capacity = _FIRST_CAPACITY
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def _ordered(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int) -> list[Key]:
    def bucket(key: Key) -> int:
        value = hash_of(key) & _MASK
        return (value ^ value >> 16) & (capacity - 1)

    return sorted(keys, key=bucket)


def text_order(member_ids: Collection[str]) -> list[str]:
    return _ordered(member_ids, java_hash, _capacity(len(member_ids)))


def topic_order(topic_ids: Collection[bytes]) -> list[bytes]:
    return _ordered(topic_ids, _uuid_hash, _capacity(len(topic_ids)))


def copied_topic_order(topic_ids: Collection[bytes]) -> list[bytes]:
    """As `topic_order`, of a set that was made as a copy of another."""
    return _ordered(sorted(topic_ids), _uuid_hash, _copy_capacity(len(topic_ids)))


def partition_order(partitions: Collection[int]) -> list[int]:
    return _ordered(sorted(partitions), int, _copy_capacity(len(partitions)))


def _copy_capacity(size: int) -> int:
    """Of a set that was made as a copy: the least power of two above four thirds of its size."""
    wanted = max(int(size / _LOAD) + 1, _FIRST_CAPACITY)
    return 1 << (wanted - 1).bit_length()


def _uuid_hash(topic_id: bytes) -> int:
    mixed = int.from_bytes(topic_id[:_WORD]) ^ int.from_bytes(topic_id[_WORD:])
    return (mixed >> 32) ^ (mixed & _MASK)


def uuid_order_key(topic_id: bytes) -> tuple[int, int]:
    """By which Kafka's Uuid compares: two signed words."""
    return int.from_bytes(topic_id[:_WORD], signed=True), int.from_bytes(topic_id[_WORD:], signed=True)
