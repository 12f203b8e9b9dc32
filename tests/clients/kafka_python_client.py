"""kafka-python: the protocol in plain Python, with codecs from python-snappy, lz4 and zstandard."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.clients.records import CLIENT_LIMIT_BYTES, CONSUME_DEADLINE_S, Read, Record
from tests.waiting import wait_for

with warnings.catch_warnings():
    # It reads its message definitions through a call that newer Pythons want replaced.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition  # type: ignore[import-untyped]
    from kafka.admin import ConfigResource  # type: ignore[import-untyped]
    from kafka.errors import KafkaError as KafkaPythonError  # type: ignore[import-untyped]
    from kafka.errors import OffsetOutOfRangeError

__all__ = [
    "ConfigResource",
    "KafkaAdminClient",
    "KafkaPythonClient",
    "KafkaPythonError",
    "OffsetOutOfRangeError",
    "TopicPartition",
    "assigned",
    "take",
]

POLL_MS = 500


class KafkaPythonClient:
    name = "kafka-python"

    def can_write(self, record: Record) -> bool:
        """It refuses to send a record without key and value, and a header without a value."""
        some = record.key is not None or record.value is not None
        return some and all(value is not None for _, value in record.headers)

    def produce(
        self,
        address: str,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int = 0,
        **settings: object,
    ) -> None:
        producer = KafkaProducer(
            bootstrap_servers=address,
            compression_type=None if codec == "none" else codec,
            max_request_size=CLIENT_LIMIT_BYTES,
            linger_ms=5,
            **settings,
        )
        try:
            sent = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            for future in sent:
                future.get(CONSUME_DEADLINE_S)
        finally:
            producer.close()

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]:
        wanted = TopicPartition(topic, partition)
        with assigned(address, [wanted]) as consumer:
            consumer.seek(wanted, offset)
            return take(consumer, count)


@contextmanager
def assigned(address: str, partitions: list[TopicPartition], **settings: object) -> Iterator[KafkaConsumer]:
    consumer = KafkaConsumer(
        bootstrap_servers=address, max_partition_fetch_bytes=CLIENT_LIMIT_BYTES, auto_offset_reset="none", **settings
    )
    try:
        consumer.assign(partitions)
        yield consumer
    finally:
        consumer.close()


def take(consumer: KafkaConsumer, count: int) -> list[Read]:
    taken: list[Read] = []

    def enough() -> bool:
        for messages in consumer.poll(timeout_ms=POLL_MS, max_records=count - len(taken)).values():
            taken.extend(
                Read(m.offset, Record(m.key, m.value, tuple(map(tuple, m.headers)), m.timestamp)) for m in messages
            )
        return len(taken) == count

    wait_for(enough, f"{count} records", CONSUME_DEADLINE_S)
    return taken
