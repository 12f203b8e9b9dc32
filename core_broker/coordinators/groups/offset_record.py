"""The bytes of a committed offset in the log, made without a message in between: commits are many."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Final

from barnabas.wire.varint import uvarint

NO_TOPIC_ID: Final = bytes(16)

KEY_TYPE: Final = b"\0\1"
VALUE_VERSION: Final = 4
EXPIRING_VALUE_VERSION: Final = 1
"""The only version that says when an offset expires; clients could ask for that long ago."""

KEYS_REMEMBERED_MAX: Final = 10_000
"""Whoever commits commits again: the same few partitions, every few seconds."""

_NO_TAGS: Final = b"\0"
_TOPIC_ID_TAG: Final = b"\1\0\x10"
"""One tagged field, number 0, of 16 bytes."""

_length = Struct(">h").pack
_partition = Struct(">i").pack
_head = Struct(">hqi").pack
_expiring_head = Struct(">hqh").pack
_time = Struct(">q").pack
_times = Struct(">qq").pack


@lru_cache(maxsize=KEYS_REMEMBERED_MAX)
def encode_key(group_id: str, topic: str, partition: int) -> bytes:
    group, name = group_id.encode(), topic.encode()
    return b"".join((KEY_TYPE, _length(len(group)), group, _length(len(name)), name, _partition(partition)))


def encode_value(
    offset: int, leader_epoch: int, metadata: str, now_ms: int, expire_ms: int | None, topic_id: bytes
) -> bytes:
    note = metadata.encode()
    if expire_ms is not None:
        head = _expiring_head(EXPIRING_VALUE_VERSION, offset, len(note))
        return b"".join((head, note, _times(now_ms, expire_ms)))
    tags = _NO_TAGS if topic_id == NO_TOPIC_ID else _TOPIC_ID_TAG + topic_id
    return b"".join((_head(VALUE_VERSION, offset, leader_epoch), uvarint(len(note) + 1), note, _time(now_ms), tags))
