"""Copies a topic in transactions, with the group's offsets in them: run as a program, so that a test can kill it.

python -m tests.clients.transactional_copier ADDRESS SOURCE TARGET NAME
"""

import sys
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Message, Producer

DEADLINE_S = 90.0
BATCH = 20
POLL_S = 0.2


class Copier:
    """Each batch is one transaction. What a broker that is away makes of it is tried again, or aborted and read again."""

    def __init__(self, address: str, source: str, target: str, name: str) -> None:
        self._target = target
        self._producer = Producer(
            {"bootstrap.servers": address, "transactional.id": name, "reconnect.backoff.max.ms": 200, "linger.ms": 0}
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": name,
                # The next one takes its place at once; a member that was killed would be waited for.
                "group.instance.id": name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": 6000,
                "reconnect.backoff.max.ms": 200,
            }
        )
        self._consumer.subscribe([source])

    def run(self) -> None:
        self._again(self._producer.init_transactions, DEADLINE_S)
        while True:
            messages = [message for message in self._consumer.consume(BATCH, POLL_S) if message.error() is None]
            if not messages:
                continue
            try:
                self._copy(messages)
            except KafkaException as failure:
                if not failure.args[0].txn_requires_abort():
                    raise
                self._again(self._producer.abort_transaction, DEADLINE_S)
                self._rewind()

    def _copy(self, messages: list[Message]) -> None:
        self._producer.begin_transaction()
        for message in messages:
            partition = message.partition()
            assert partition is not None
            self._producer.produce(self._target, message.value(), partition=partition)
        positions = self._consumer.position(self._consumer.assignment())
        metadata = self._consumer.consumer_group_metadata()
        self._again(self._producer.send_offsets_to_transaction, positions, metadata, DEADLINE_S)
        self._again(self._producer.commit_transaction, DEADLINE_S)

    def _rewind(self) -> None:
        """Back to what is committed: an aborted transaction has moved no offset."""
        for place in self._consumer.committed(self._consumer.assignment(), DEADLINE_S):
            if place.offset < 0:
                place.offset = 0
            self._consumer.seek(place)

    def _again(self, action: Callable[..., object], *arguments: object) -> None:
        while True:
            try:
                action(*arguments)
            except KafkaException as failure:
                if not failure.args[0].retriable():
                    raise
            else:
                return


if __name__ == "__main__":
    Copier(*sys.argv[1:]).run()
