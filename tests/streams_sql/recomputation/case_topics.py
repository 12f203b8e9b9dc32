"""Topics of cases on a real broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.clients.records import KEEP_FOREVER
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.sink_rows import SinkRecord
from tests.streams_sql.recomputation.sources import Record, encoded_key, encoded_value

DEADLINE_S: Final = 60.0
READ_TIMEOUT_S: Final = 0.3
READ_MAX: Final = 5_000


class CaseTopics:
    """Creates topics for cases, writes their records and reads what queries write. Each case has its own topics, however often it runs."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._admin = AdminClient({"bootstrap.servers": address})
        self._producer = Producer({"bootstrap.servers": address, "linger.ms": 1})
        self._numbers = count(1)

    def create(self, case: Case, sink_partitions: int = 0) -> dict[str, str]:
        """The topics of the sources by their names; with `sink_partitions`, that of the sink has the name ''."""
        number = next(self._numbers)
        topics = {source.name: f"{source.name}-{number}" for source in case.sources}
        new = [NewTopic(topics[each.name], each.partitions, 1, config=dict(KEEP_FOREVER)) for each in case.sources]
        if sink_partitions:
            topics[""] = f"sink-{case.seed}-{number}"
            new.append(NewTopic(topics[""], sink_partitions, 1, config=dict(KEEP_FOREVER)))
        for created in self._admin.create_topics(new).values():
            created.result(DEADLINE_S)
        return topics

    def write(self, case: Case, topics: Mapping[str, str], records: Iterable[Record]) -> None:
        key_types = {source.name: source.columns[0].type for source in case.sources}
        for record in records:
            key = encoded_key(record.key, key_types[record.source])
            self._producer.produce(
                topics[record.source], encoded_value(record), key, record.partition, timestamp=record.time
            )
            self._producer.poll(0)
        assert self._producer.flush(DEADLINE_S) == 0, "records could not be written"

    def delete(self, topics: Mapping[str, str]) -> None:
        for deleted in self._admin.delete_topics(list(topics.values())).values():
            deleted.result(DEADLINE_S)


class SinkReader:
    """What queries have written so far, committed and in the order of each partition."""

    def __init__(self, address: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "unused",
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 50,
            }
        )
        self._found = defaultdict[str, defaultdict[int, list[SinkRecord]]](lambda: defaultdict(list))

    def add(self, topic: str, partitions: int) -> None:
        self._consumer.incremental_assign(
            [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)]
        )

    def remove(self, topic: str, partitions: int) -> None:
        self._consumer.incremental_unassign([TopicPartition(topic, number) for number in range(partitions)])
        self._found.pop(topic, None)

    def read(self) -> None:
        for message in self._consumer.consume(READ_MAX, READ_TIMEOUT_S):
            if message.error() is None:
                record = SinkRecord(message.key(), message.value(), message.timestamp()[1])
                self._found[message.topic() or ""][message.partition() or 0].append(record)

    def records(self, topic: str) -> list[SinkRecord]:
        return [record for records in self._found[topic].values() for record in records]

    def close(self) -> None:
        self._consumer.close()
