"""The order in which Kafka's uniform assignor visits members, topics and partitions: that of Java's hash maps. It decides which member
gets the odd partition. Keys in one bucket keep the given order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from barnabas.kernel.java.hash_map import copy_capacity, hash_map_order, map_order

_MASK: Final = 0xFFFF_FFFF
_WORD: Final = 8


def text_order(member_ids: Collection[str]) -> list[str]:
    return hash_map_order(member_ids)


def topic_order(topic_ids: Collection[bytes]) -> list[bytes]:
    return map_order(topic_ids, _uuid_hash)


def copied_topic_order(topic_ids: Collection[bytes]) -> list[bytes]:
    """As `topic_order`, of a set that was created as a copy of another."""
    return map_order(sorted(topic_ids), _uuid_hash, copy_capacity(len(topic_ids)))


def partition_order(partitions: Collection[int]) -> list[int]:
    return map_order(sorted(partitions), int, copy_capacity(len(partitions)))


def _uuid_hash(topic_id: bytes) -> int:
    mixed = int.from_bytes(topic_id[:_WORD]) ^ int.from_bytes(topic_id[_WORD:])
    return (mixed >> 32) ^ (mixed & _MASK)


def uuid_order_key(topic_id: bytes) -> tuple[int, int]:
    """The key by which Kafka's Uuid compares: two signed words."""
    return int.from_bytes(topic_id[:_WORD], signed=True), int.from_bytes(topic_id[_WORD:], signed=True)
