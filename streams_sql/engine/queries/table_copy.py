"""The rows of a table that was built in a topic of its own, brought over into the table's topic: in one transaction, so that who reads
committed records sees the one table or the other.

Records are compared as bytes: both were written in the same formats, by the same keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from streams_sql.local.topic_records import consumer_settings
from streams_sql.written_time import written_time

POLL_S: Final = 0.5
MESSAGES_MAX: Final = 5_000
"""Taken from librdkafka together."""
DEADLINE_S: Final = 60.0
"""For one answer of the broker."""
SILENCE_S: Final = 60.0
"""How long a topic that has more may give nothing."""
TRANSACTION_TIMEOUT_MS: Final = 900_000
"""As long as brokers allow unless their settings say otherwise."""
DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What the copy has written: rows that are new or others than before, and keys that are no more."""

    rows: int
    deleted: int


def bring_over(settings: Mapping[str, Any], shadow: str, topic: str, transactional_id: str) -> CopyResult:
    """Make the table in `topic` the one that is in `shadow`. No query writes to either of them meanwhile. KafkaException."""
    former = _digests(settings, topic)
    last = {key: place for key, place, value in _records(settings, shadow)}
    producer = Producer(
        {
            **settings,
            # Rows stay where the queries have put them.
            "partitioner": "murmur2_random",
            "transactional.id": transactional_id,
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        }
    )
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    try:
        brought = _write(producer, topic, former, _current(settings, shadow, last))
        producer.commit_transaction(DEADLINE_S)
    except BaseException:
        producer.abort_transaction(DEADLINE_S)
        raise
    return brought


def _write(producer: Producer, topic: str, former: dict[bytes, bytes], rows: Iterator[Message]) -> CopyResult:
    """What is left of the former rows is no more."""
    written = 0
    for message in rows:
        key, value = message.key() or b"", message.value()
        known = former.pop(key, None)
        if known != _digest(value or b""):
            _produce(producer, topic, key, value, written_time(message.timestamp()[1]))
            written += 1
    for key in former:
        _produce(producer, topic, key, None, timestamp=0)
    left = producer.flush(DEADLINE_S)
    if left:
        raise KafkaException(
            KafkaError(KafkaError._TIMED_OUT, f"{left} rows for {topic} were not acknowledged in time")
        )
    return CopyResult(written, len(former))


def _produce(producer: Producer, topic: str, key: bytes, value: bytes | None, timestamp: int) -> None:
    """With a timestamp of 0, it is of now."""
    while True:
        try:
            producer.produce(topic, value, key, timestamp=timestamp)
        except BufferError:
            producer.poll(POLL_S)
        else:
            producer.poll(0)
            return


def _digests(settings: Mapping[str, Any], topic: str) -> dict[bytes, bytes]:
    """The rows that a table has, by their keys."""
    found: dict[bytes, bytes] = {}
    for key, _, value in _records(settings, topic):
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _digest(value)
    return found


def _digest(value: bytes) -> bytes:
    return blake2b(value, digest_size=DIGEST_BYTES).digest()


def _records(settings: Mapping[str, Any], topic: str) -> Iterator[tuple[bytes, tuple[int, int], bytes | None]]:
    for message in _messages(settings, topic):
        yield message.key() or b"", (message.partition() or 0, message.offset() or 0), message.value()


def _current(settings: Mapping[str, Any], topic: str, last: Mapping[bytes, tuple[int, int]]) -> Iterator[Message]:
    """The last record of each key, unless it deletes."""
    for message in _messages(settings, topic):
        if message.value() is not None and last[message.key() or b""] == (message.partition(), message.offset()):
            yield message


def _messages(settings: Mapping[str, Any], topic: str) -> Iterator[Message]:
    """All committed records that a topic has."""
    consumer = Consumer(consumer_settings(settings, topic))
    try:
        found = consumer.list_topics(topic, DEADLINE_S).topics[topic]
        if found.error is not None:
            # A topic that is not there is not an empty table.
            raise KafkaException(found.error)
        partitions = found.partitions
        open_ = set(partitions)
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
        silent_s = 0.0
        while open_:
            messages = consumer.consume(MESSAGES_MAX, POLL_S)
            silent_s = 0.0 if messages else silent_s + POLL_S
            if silent_s > SILENCE_S:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"Topic {topic} gives no records"))
            for message in messages:
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_.discard(message.partition() or 0)
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()
