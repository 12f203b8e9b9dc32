"""Topics that tests write to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from confluent_kafka import IsolationLevel, KafkaException, Producer, TopicPartition

from tests.clients.confluent_client import AdminClient, NewPartitions, NewTopic, OffsetSpec
from tests.clients.records import KEEP_FOREVER
from tests.waiting import wait_for


class WrittenTopic:
    """A topic of JSON values under texts for keys. A value of None is a tombstone; bytes are written as they are."""

    def __init__(self, address: str, name: str, partitions: int = 1) -> None:
        self.name = name
        self._settings: dict[str, Any] = {"bootstrap.servers": address}
        self._admin = AdminClient(self._settings)
        self.make(partitions)

    def make(self, partitions: int = 1) -> None:
        # A topic that was just deleted may be in the way for a moment.
        wait_for(lambda: self._is_made(partitions), f"topic {self.name}")

    def _is_made(self, partitions: int) -> bool:
        # Its records are of 1970, which retention would delete.
        (made,) = self._admin.create_topics([NewTopic(self.name, partitions, 1, config=KEEP_FOREVER)]).values()
        try:
            made.result()
        except KafkaException:
            return False
        return True

    def delete(self) -> None:
        (deleted,) = self._admin.delete_topics([self.name]).values()
        deleted.result()

    def grow(self, partitions: int) -> None:
        (grown,) = self._admin.create_partitions([NewPartitions(self.name, partitions)]).values()
        grown.result()

    def delete_records(self, before: int) -> None:
        (deleted,) = self._admin.delete_records([TopicPartition(self.name, 0, before)]).values()
        deleted.result()

    def write(self, records: Iterable[tuple[str | bytes, Any]], partition: int = 0, timestamp_ms: int = 1_000) -> None:
        self._write(Producer(self._settings), records, partition, timestamp_ms)

    def write_transaction(self, records: Iterable[tuple[str | bytes, Any]], *, is_committed: bool) -> None:
        producer = Producer({**self._settings, "transactional.id": f"{self.name}-{is_committed}"})
        producer.init_transactions()
        producer.begin_transaction()
        self._write(producer, records, 0, 1_000)
        if is_committed:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
        # Kafka answers before it has told the partitions.
        wait_for(
            lambda: self._end(IsolationLevel.READ_COMMITTED) == self._end(IsolationLevel.READ_UNCOMMITTED),
            "the end of the transaction",
        )

    def _end(self, isolation: IsolationLevel) -> int:
        asked = {TopicPartition(self.name, 0): OffsetSpec.latest()}  # type: ignore[no-untyped-call] # Its types lack it.
        (found,) = self._admin.list_offsets(asked, isolation_level=isolation).values()
        return int(found.result().offset)

    def _write(
        self, producer: Producer, records: Iterable[tuple[str | bytes, Any]], partition: int, timestamp_ms: int
    ) -> None:
        for key, value in records:
            written = value if value is None or isinstance(value, bytes) else orjson.dumps(value)
            while True:
                try:
                    producer.produce(self.name, written, key, partition, timestamp=timestamp_ms)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush()
