"""Reads ranges in Spark's workers: one consumer for each process, which is given one range at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams_sql.plan.records import Records
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.ranges import Range, RecordsGoneError

RECORDS_TOGETHER: Final = 500
"""Handed on at once. What is made of them should fit the cache of a core: with 5,000, measured, each took a third more time."""
QUEUE_KB: Final = 32_768
"""What librdkafka fetches ahead."""
FETCH_AGAIN_MS: Final = 2
"""How soon librdkafka looks again whether there is room for more. With its own second, measured, a worker waited for most of its time."""
POLL_S: Final = 0.02
"""librdkafka waits for as many records as it is asked for, or for so long: a range that ends with what is no record takes that time."""
SILENCE_DEADLINE_S: Final = 60.0
"""How long a range that is known to be there may give nothing."""

_SETTINGS: Final[dict[str, str | bool | int]] = {
    # It never joins the group, which librdkafka wants to know all the same.
    "group.id": "barnabas-sql-ranges",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "allow.auto.create.topics": False,
    "auto.offset.reset": "error",
    # A range may end with what is no record: the markers of transactions, or what was compacted away.
    "enable.partition.eof": True,
    # What is fetched is there. A request that waits at the end of one range for more would hold up the next one.
    "fetch.wait.max.ms": 20,
    "queued.max.messages.kbytes": QUEUE_KB,
    "fetch.queue.backoff.ms": FETCH_AGAIN_MS,
    "fetch.message.max.bytes": 4_194_304,
    "max.partition.fetch.bytes": 4_194_304,
}
_TIME: Final = itemgetter(1)
_CONSUMERS: Final[dict[str, Consumer]] = {}


def read_range(access: KafkaAccess, wanted: Range, *, has_headers: bool) -> Iterator[Records]:
    """The records in their order. RecordsGoneError, KafkaException, TimeoutError."""
    if wanted.start >= wanted.end:
        return
    consumer = _shared_consumer(access)
    consumer.assign([TopicPartition(wanted.topic, wanted.partition, wanted.start)])
    try:
        reached, heard_s = wanted.start, time.monotonic()
        while reached < wanted.end:
            messages = consumer.consume(min(RECORDS_TOGETHER, wanted.end - reached), POLL_S)
            if not messages:
                if time.monotonic() - heard_s > SILENCE_DEADLINE_S:
                    raise TimeoutError(f"No record of {wanted} has come within {SILENCE_DEADLINE_S:.0f} s")
                continue
            heard_s = time.monotonic()
            found, reached = _sorted_out(messages, wanted)
            if found:
                yield _records(found, wanted.partition, has_headers=has_headers)
    except KafkaException:
        # It may be beyond repair: the next task makes another.
        _CONSUMERS.pop(access.bootstrap_servers, None)
        raise
    finally:
        consumer.unassign()


def _sorted_out(messages: list[Message], wanted: Range) -> tuple[list[Message], int]:
    """The messages that are records of the range, and the offset up to which it has been read."""
    last = messages[-1]
    if last.error() is None and (offset := last.offset() or 0) < wanted.end and _are_sound(messages):
        return messages, offset + 1
    found, reached = [], wanted.start
    for message in messages:
        error, offset = message.error(), message.offset() or 0
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise _failure(error, wanted)
        if error is None and offset < wanted.end:
            found.append(message)
        reached = offset + 1 if error is None else max(reached, offset)
    return found, reached


def _are_sound(messages: Sequence[Message]) -> bool:
    return not any(map(Message.error, messages))


def _failure(error: KafkaError, wanted: Range) -> Exception:
    gone = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._UNKNOWN_PARTITION)
    if error.code() in (*gone, KafkaError.UNKNOWN_TOPIC_OR_PART):
        return RecordsGoneError(f"{wanted} cannot be read any more: {error.str()}")
    return KafkaException(error)


def _records(messages: Sequence[Message], partition: int, *, has_headers: bool) -> Records:
    first, last = messages[0].offset() or 0, messages[-1].offset() or 0
    is_unbroken = last - first + 1 == len(messages)
    fields: Any = Message
    return Records(
        list(map(fields.key, messages)),
        list(map(fields.value, messages)),
        list(map(_TIME, map(fields.timestamp, messages))),
        [partition] * len(messages),
        range(first, last + 1) if is_unbroken else list(map(fields.offset, messages)),
        [headers or () for headers in map(fields.headers, messages)] if has_headers else (),
    )


def _shared_consumer(access: KafkaAccess) -> Consumer:
    """The one consumer of this worker process."""
    known = access.bootstrap_servers
    if known not in _CONSUMERS:
        settings = {**_SETTINGS, **access.consumer, **access.librdkafka, "isolation.level": access.isolation_level}
        _CONSUMERS[known] = Consumer({**settings, "bootstrap.servers": known})
    return _CONSUMERS[known]
