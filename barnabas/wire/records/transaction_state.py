"""The records of `__transaction_state`."""

from typing import Final

from barnabas.wire.fields import array, int8, int16, int32, int64, string
from barnabas.wire.struct import Message, Struct


class TransactionLogKey(Message, api_key=0, versions="0", flexible="none"):
    transactional_id: str = string()


class PartitionsSchema(Struct):
    topic: str = string()
    partition_ids: list[int] = array(int32)


class TransactionLogValue(Message, api_key=0, versions="0-1", flexible="1+"):
    producer_id: int = int64()
    previous_producer_id: int = int64("1+", default=-1, tag=0)
    next_producer_id: int = int64("1+", default=-1, tag=1)
    producer_epoch: int = int16()
    next_producer_epoch: int = int16("1+", default=-1, tag=3)
    transaction_timeout_ms: int = int32()
    transaction_status: int = int8()
    transaction_partitions: list[PartitionsSchema] | None = array(PartitionsSchema, nullable="0+")
    transaction_last_update_timestamp_ms: int = int64()
    transaction_start_timestamp_ms: int = int64()
    client_transaction_version: int = int16("1+", tag=2)


# Keys by record type.
KEYS: Final[dict[int, type[Message]]] = {declaration.API_KEY: declaration for declaration in (TransactionLogKey,)}


# Values by the record type of their key.
VALUES: Final[dict[int, type[Message]]] = {declaration.API_KEY: declaration for declaration in (TransactionLogValue,)}
