"""Reads orders, writes receipts: each order is answered once, in one transaction with the note that it was read."""

from __future__ import annotations

import json
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

PRICES = {"nail": 10, "hammer": 1250}
"""In cents."""
POLL_SECONDS = 0.2
TRANSACTION_SECONDS = 30.0


@dataclass(frozen=True)
class Topics:
    orders: str
    receipts: str
    rejected: str


class OrderDesk:
    """Call `step` again and again; `close` gives the partitions back."""

    def __init__(self, bootstrap_servers: str, topics: Topics, name: str = "order-desk") -> None:
        self._topics = topics
        self._settings = {"bootstrap.servers": bootstrap_servers, "transactional.id": name}
        self._producer = self._new_producer()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 300,
                "session.timeout.ms": 6_000,
            }
        )
        self._consumer.subscribe([topics.orders])

    def step(self) -> int:
        """Answer what has come; returns how many orders that were."""
        orders = [message for message in self._consumer.consume(100, POLL_SECONDS) if message.error() is None]
        if not orders:
            return 0
        try:
            self._answer(orders)
        except KafkaException:
            # Nothing of the transaction counts: whoever holds the partitions now reads these orders again.
            self._producer = self._new_producer()
            self._rewind(orders)
            return 0
        return len(orders)

    def close(self) -> None:
        self._consumer.close()

    def _answer(self, orders: list[Message]) -> None:
        self._producer.begin_transaction()
        for order in orders:
            topic, value = self._decided(order)
            self._producer.produce(topic, value, key=order.key())
        next_offsets = {(one.topic, one.partition): one.offset + 1 for one in map(_position, orders)}
        self._producer.send_offsets_to_transaction(
            [TopicPartition(topic, partition, offset) for (topic, partition), offset in next_offsets.items()],
            self._consumer.consumer_group_metadata(),
        )
        self._producer.commit_transaction(TRANSACTION_SECONDS)

    def _decided(self, order: Message) -> tuple[str, bytes]:
        try:
            wanted = json.loads(order.value() or b"")
            total = PRICES[wanted["item"]] * wanted["count"]
        except (ValueError, KeyError, TypeError) as problem:
            return self._topics.rejected, json.dumps({"offset": order.offset(), "reason": repr(problem)}).encode()
        return self._topics.receipts, json.dumps({"item": wanted["item"], "total": total}).encode()

    def _new_producer(self) -> Producer:
        producer = Producer(self._settings)
        producer.init_transactions(TRANSACTION_SECONDS)
        return producer

    def _rewind(self, orders: list[Message]) -> None:
        first: dict[tuple[str, int], int] = {}
        for order in map(_position, orders):
            first.setdefault((order.topic, order.partition), order.offset)
        held = {(one.topic, one.partition) for one in self._consumer.assignment()}
        for (topic, partition), offset in first.items():
            if (topic, partition) in held:
                self._consumer.seek(TopicPartition(topic, partition, offset))


def _position(record: Message) -> TopicPartition:
    """Where a record is: one that was consumed has a topic, a partition and an offset."""
    topic, partition, offset = record.topic(), record.partition(), record.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    return TopicPartition(topic, partition, offset)
