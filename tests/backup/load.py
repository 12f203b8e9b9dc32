"""Clients that write for as long as a backup may take, and remember what the broker acknowledged."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

STEADY, KEYED, PAIRED = "steady", "keyed", "paired"
GROUP = "readers"
TRANSACTIONAL_ID = "pairs"
SMALL_SEGMENT = {"internal.segment.bytes": "50000"}
COMPACTED = {**SMALL_SEGMENT, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
KEYS = 7
VALUE_BYTES = 600
DEADLINE_S = 90.0

Records = dict[int, bytes]


def create(address: str, *topics: NewTopic) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    for future in admin.create_topics(list(topics)).values():
        future.result(DEADLINE_S)


def records(address: str, topic: str, partition: int = 0) -> Records:
    """All that is committed, by offset."""
    found: Records = {}
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": secrets.token_hex(4),
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    try:
        while True:
            message = consumer.poll(DEADLINE_S)
            assert message is not None, f"no end of {topic} after {DEADLINE_S} s"
            if message.error():
                return found
            offset, value = message.offset(), message.value()
            assert offset is not None
            assert value is not None
            found[offset] = value
    finally:
        consumer.close()


class Load:
    """What was acknowledged so far, by topic and offset."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.acknowledged: dict[str, Records] = {STEADY: {}, KEYED: {}}
        self.committed = 0
        self.pairs = 0
        self._end = Event()
        create(
            address,
            NewTopic(STEADY, 1, config=SMALL_SEGMENT),
            NewTopic(KEYED, 1, config=COMPACTED),
            NewTopic(PAIRED, 2, config=SMALL_SEGMENT),
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        jobs = (self._write, self._pair, self._come_and_go)
        with ThreadPoolExecutor(len(jobs)) as threads:
            futures = [threads.submit(self._repeat, job) for job in jobs]
            try:
                yield
            finally:
                self._end.set()
        for future in futures:
            future.result()

    def _repeat(self, job: Callable[[], Iterator[None]]) -> None:
        for _ in job():
            if self._end.is_set():
                return

    def _write(self) -> Iterator[None]:
        """Records, and commits of the offset behind those that were acknowledged."""
        producer = Producer({"bootstrap.servers": self.address, "enable.idempotence": True})
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": GROUP})
        number = 0
        while True:
            for _ in range(20):
                number += 1
                value = f"{number}".encode().ljust(VALUE_BYTES)
                producer.produce(STEADY, value, on_delivery=self._note)
                producer.produce(KEYED, value, f"{number % KEYS}", on_delivery=self._note)
            assert producer.flush(DEADLINE_S) == 0
            end = max(self.acknowledged[STEADY]) + 1
            consumer.commit(offsets=[TopicPartition(STEADY, 0, end)], asynchronous=False)
            self.committed = end
            yield

    def _note(self, error: object, message: Message) -> None:
        assert error is None, error
        topic, offset, value = message.topic(), message.offset(), message.value()
        assert topic is not None
        assert offset is not None
        assert value is not None
        self.acknowledged[topic][offset] = value

    def _pair(self) -> Iterator[None]:
        """Transactions with the same record in both partitions."""
        producer = Producer({"bootstrap.servers": self.address, "transactional.id": TRANSACTIONAL_ID})
        producer.init_transactions(DEADLINE_S)
        while True:
            producer.begin_transaction()
            for partition in (0, 1):
                producer.produce(PAIRED, f"{self.pairs + 1}", partition=partition)
            producer.commit_transaction(DEADLINE_S)
            self.pairs += 1
            yield

    def _come_and_go(self) -> Iterator[None]:
        admin = AdminClient({"bootstrap.servers": self.address})
        producer = Producer({"bootstrap.servers": self.address})
        number = 0
        while True:
            name = f"brief-{number % 3}"
            number += 1
            create(self.address, NewTopic(name, 2))
            producer.produce(name, b"soon gone")
            producer.flush(DEADLINE_S)
            admin.delete_topics([name])[name].result(DEADLINE_S)
            yield


def end_transactions(address: str) -> None:
    """End what a broker that went away left open, as a new instance of the producer does."""
    try:
        Producer({"bootstrap.servers": address, "transactional.id": TRANSACTIONAL_ID}).init_transactions(DEADLINE_S)
    except KafkaException as error:
        raise AssertionError(f"the transaction cannot be ended: {error}") from error
