"""The records of `__share_group_state`: how far each share-partition has been delivered."""

from typing import Final

from barnabas.wire.fields import array, int8, int16, int32, int64, string, uuid
from barnabas.wire.struct import Message, Struct


class ShareSnapshotKey(Message, api_key=0, versions="0", flexible="none"):
    group_id: str = string()
    topic_id: bytes = uuid()
    partition: int = int32()


class StateBatch(Struct):
    first_offset: int = int64()
    last_offset: int = int64()
    delivery_state: int = int8()
    delivery_count: int = int16()


class ShareSnapshotValue(Message, api_key=0, versions="0", flexible="0+"):
    snapshot_epoch: int = int32()
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()
    delivery_complete_count: int = int32(default=-1, tag=0)
    create_timestamp: int = int64()
    write_timestamp: int = int64()
    state_batches: list[StateBatch] = array(StateBatch)


class ShareUpdateKey(Message, api_key=1, versions="0", flexible="none"):
    group_id: str = string()
    topic_id: bytes = uuid()
    partition: int = int32()


class ShareUpdateValue(Message, api_key=1, versions="0", flexible="0+"):
    snapshot_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()
    delivery_complete_count: int = int32(default=-1, tag=0)
    state_batches: list[StateBatch] = array(StateBatch)


# Keys by record type.
KEYS: Final[dict[int, type[Message]]] = {0: ShareSnapshotKey, 1: ShareUpdateKey}


# Values by the record type of their key.
VALUES: Final[dict[int, type[Message]]] = {0: ShareSnapshotValue, 1: ShareUpdateValue}
