"""Logs that are topics: everything is read, and only one leader writes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from confluent_kafka import KafkaError

from barnabas.kernel.kafka_clients.admin import Admin, KafkaRefusal
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.kafka_log import topic_log
from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from barnabas.kernel.kafka_log.log import LogRecord
from barnabas.kernel.kafka_log.topic_log import LeaderLog, LogClients, TopicLog
from barnabas.kernel.kafka_log.topic_reader import TopicReader
from connect.storage.internal_topics import TopicUnfit, provide
from connect.tasks.clients import ClientKind, client_settings
from connect.tasks.spec import WorkerConfig
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker

RECORDS = 2500
STOP_DEADLINE_S = 90


def clients_of(broker: BarnabasBroker) -> LogClients:
    context = WorkerConfig("w", "g", {"bootstrap.servers": broker.address}, None)
    admin, consumer, producer = (
        client_settings(context, {}, kind, "tests")
        for kind in (ClientKind.ADMIN, ClientKind.CONSUMER, ClientKind.PRODUCER)
    )
    return LogClients(Admin(admin), consumer, producer)


class Leader:
    """A log that may lead, what it has applied, and whether it was shut out."""

    def __init__(self, clients: LogClients, topic: str) -> None:
        self.applied: list[LogRecord] = []
        self.fenced = 0
        self.log = LeaderLog(topic, f"leader-{topic}", clients, self._apply, self._on_fenced)

    def _apply(self, records: Sequence[LogRecord]) -> None:
        self.applied += records

    def _on_fenced(self) -> None:
        self.fenced += 1


@asynccontextmanager
async def running(*logs: TopicLog) -> AsyncIterator[None]:
    await asyncio.gather(*(log.start() for log in logs))
    try:
        yield
    finally:
        await asyncio.gather(*(log.stop() for log in logs))


def test_a_former_leader_cannot_write_any_more(barnabas: BarnabasBroker, topic: str) -> None:
    async def scenario() -> None:
        clients = clients_of(barnabas)
        await provide(clients.admin, TopicShape(topic, 1, 3), ())
        former, leader, follower = (Leader(clients, topic) for _ in range(3))
        async with running(former.log, leader.log, follower.log):
            with pytest.raises(Superseded):
                await former.log.append([LogRecord(b"a", b"before anybody leads")])
            await former.log.lead()
            await former.log.append([LogRecord(b"a", b"1"), LogRecord(b"b", None)])
            await leader.log.lead()
            assert leader.applied == [LogRecord(b"a", b"1"), LogRecord(b"b", None)]
            with pytest.raises(Superseded):
                await former.log.append([LogRecord(b"a", b"late")])
            assert (former.fenced, leader.fenced) == (1, 0)
            await leader.log.append([LogRecord(b"a", b"2")])
            assert leader.applied[-1] == LogRecord(b"a", b"2"), "what was written is known when the write returns"
            for each in (leader, follower):
                await each.log.read_to_end()
            assert follower.applied == [LogRecord(b"a", b"1"), LogRecord(b"b", None), LogRecord(b"a", b"2")]
            assert follower.log.position == leader.log.position
            await leader.log.resign()
            with pytest.raises(Superseded):
                await leader.log.append([LogRecord(b"a", b"3")])

    asyncio.run(scenario())


def test_a_log_of_several_partitions_is_read_whole(barnabas: BarnabasBroker, topic: str) -> None:
    async def scenario() -> None:
        clients = clients_of(barnabas)
        await provide(clients.admin, TopicShape(f"{topic}-config", 1, 1), [TopicShape(topic, 5, 1)])
        applied: dict[bytes, bytes | None] = {}
        written = [LogRecord(f"{number % 100}".encode(), f"{number}".encode()) for number in range(RECORDS)]
        first = TopicLog(topic, clients, lambda _records: None)
        second = TopicLog(topic, clients, applied.update)
        async with running(first):
            await first.append(written)
            async with running(second):
                assert applied == dict(written)

    asyncio.run(scenario())


def test_a_partition_that_has_no_leader_yet_is_waited_for(
    barnabas: BarnabasBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker alone has leaders too soon for this to happen: the answers that brokers give until then come from here."""
    ask_ends = Admin._ask_ends
    answers = [KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION]

    async def leaderless(admin: Admin, *asked: Any) -> Mapping[int, int]:
        if answers:
            raise KafkaRefusal(KafkaError(answers.pop()))
        return await ask_ends(admin, *asked)

    async def scenario() -> None:
        clients = clients_of(barnabas)
        await provide(clients.admin, TopicShape(topic, 1, 1), ())
        monkeypatch.setattr(Admin, "_ask_ends", leaderless)
        log = TopicLog(topic, clients, lambda _records: None)
        async with running(log):
            assert answers == []

    asyncio.run(scenario())


def test_a_write_that_does_not_come_back_fails_in_time_and_is_not_lost(
    barnabas: BarnabasBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader is held up here, since that of a broker that takes writes is not."""
    reads, is_held, read = threading.Event(), threading.Event(), TopicReader._read
    reads.set()

    def held_up(reader: TopicReader) -> None:
        if not reads.is_set():
            is_held.set()
            reads.wait()
        read(reader)

    async def scenario() -> None:
        clients = clients_of(barnabas)
        await provide(clients.admin, TopicShape(topic, 1, 3), ())
        leader = Leader(clients, topic)
        async with running(leader.log):
            await leader.log.lead()
            reads.clear()
            await asyncio.to_thread(is_held.wait)
            with monkeypatch.context() as short:
                short.setattr(topic_log, "READ_BACK_TIMEOUT_S", 0.1)
                with pytest.raises(StoreFailure, match=f"topic {topic} has taken a change, .* read back in 0.1 s"):
                    await leader.log.append([LogRecord(b"a", b"1")])
            assert leader.applied == []
            reads.set()
            await leader.log.append([LogRecord(b"a", b"2")])
            assert leader.applied == [LogRecord(b"a", b"1"), LogRecord(b"a", b"2")]

    monkeypatch.setattr(TopicReader, "_read", held_up)
    try:
        asyncio.run(scenario())
    finally:
        reads.set()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (TopicShape("", 3, 1, {"cleanup.policy": "compact"}), "must have exactly 1"),
        (TopicShape("", 1, 1, {"cleanup.policy": "delete"}), "cleanup.policy=delete"),
    ],
)
def test_a_topic_that_would_lose_something_is_refused(
    barnabas: BarnabasBroker, topic: str, shape: TopicShape, expected: str
) -> None:
    async def scenario() -> None:
        admin = clients_of(barnabas).admin
        await admin.create_topic(TopicShape(topic, shape.partitions, 1, shape.settings))
        with pytest.raises(TopicUnfit, match=expected):
            await provide(admin, TopicShape(topic, 1, 1), ())

    asyncio.run(scenario())


def test_nobody_waits_for_a_write_when_the_worker_stops_and_kafka_is_away(
    start_broker: StartBroker, topic: str
) -> None:
    async def scenario() -> None:
        broker = start_broker()
        clients = clients_of(broker)
        await provide(clients.admin, TopicShape(topic, 1, 3), ())
        log = TopicLog(topic, clients, lambda records: None)
        await log.start()
        await log.append([LogRecord(b"a", b"1")])
        broker.kill()
        writing = asyncio.create_task(log.append([LogRecord(b"a", b"2")]))
        await asyncio.wait({writing}, timeout=0)
        async with asyncio.timeout(STOP_DEADLINE_S):
            await log.stop()
            with pytest.raises((StoreFailure, asyncio.CancelledError)):
                await writing

    asyncio.run(scenario())
