"""A topic that is read on while its broker is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from confluent_kafka import KafkaException, Message

from streams_sql.engine.client_queries import topic_tail
from streams_sql.engine.client_queries.topic_tail import Start, TopicTail
from tests.conftest import StartBroker
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for


def keys_of(messages: Sequence[Message]) -> list[bytes | None]:
    return [message.key() for message in messages]


class ObservedTail(TopicTail[list[bytes | None]]):
    failures: list[KafkaException]

    def _assign(self, start: Start) -> None:
        try:
            super()._assign(start)
        except KafkaException as problem:
            self.failures.append(problem)
            raise


def test_it_goes_on_after_the_broker_was_away_while_partitions_were_looked_for(
    start_broker: StartBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = start_broker()
    written = WrittenTopic(broker.address, topic)
    written.write([("a", {})])

    async def scenario() -> None:
        tail = ObservedTail(topic, {"bootstrap.servers": broker.address}, Start(is_beginning=True), keys_of)
        tail.failures = []
        await tail.open()
        found = aiter(tail)
        assert await anext(found) == [b"a"]
        monkeypatch.setattr(topic_tail, "PARTITIONS_INTERVAL_S", 0.0)
        monkeypatch.setattr(topic_tail, "ASK_TIMEOUT_S", 0.2)
        await asyncio.to_thread(broker.kill)
        await asyncio.to_thread(wait_for, lambda: tail.failures, "a look that fails")
        monkeypatch.undo()
        await asyncio.to_thread(broker.start)
        await asyncio.to_thread(written.write, [("b", {})])
        assert await anext(found) == [b"b"]
        await tail.close()

    asyncio.run(scenario())
