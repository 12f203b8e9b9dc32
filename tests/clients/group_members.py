"""Members of consumer groups, of each client library behind the same few methods."""

import asyncio
import queue
import threading
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, Protocol, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException

from tests.clients.confluent_client import ADMIN_DEADLINE_S

with warnings.catch_warnings():
    # As for the rest of kafka-python: see kafka_python_client.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer  # type: ignore[import-untyped]
    from kafka.coordinator.assignors.range import RangePartitionAssignor  # type: ignore[import-untyped]
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor  # type: ignore[import-untyped]

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AsyncRange  # type: ignore[import-untyped]
from aiokafka.coordinator.assignors.roundrobin import (  # type: ignore[import-untyped]
    RoundRobinPartitionAssignor as AsyncRoundRobin,
)
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (  # type: ignore[import-untyped]
    StickyPartitionAssignor as AsyncSticky,
)

POLL_S = 0.1
SESSION_TIMEOUT_MS = 10_000
HEARTBEAT_INTERVAL_MS = 200
# A poll that ends while kafka-python waits for the others to join makes it begin again: longer than they take to hear of it.
PATIENT_POLL_MS = 5 * HEARTBEAT_INTERVAL_MS
THREAD_PAUSE_S = 0.005  # in which others get the lock
Result = TypeVar("Result")


class Position(NamedTuple):
    partition: int
    offset: int


class Member(Protocol):
    def poll(self) -> list[Position]:
        """The records that came within a short while."""

    def partitions(self) -> set[int]:
        """What is assigned to it."""

    def commit(self) -> None: ...

    def close(self) -> None: ...


class ConfluentMember:
    """librdkafka; `settings` choose protocol and assignor."""

    def __init__(self, address: str, topic: str, group: str, **settings: str) -> None:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        classic: dict[str, str | int] = {
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        }
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                # librdkafka asks again for metadata, and so joins again, in the first seconds after a topic was made.
                "topic.metadata.refresh.interval.ms": 60_000,
                **(classic if named.get("group.protocol") != "consumer" else {}),
                **named,
            }
        )
        self._consumer.subscribe([topic])

    def poll(self) -> list[Position]:
        found = []
        for message in self._consumer.consume(500, POLL_S):
            error = message.error()
            if error is not None:
                raise KafkaException(error)
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            found.append(Position(partition, offset))
        return found

    def partitions(self) -> set[int]:
        return {assigned.partition for assigned in self._consumer.assignment()}

    def commit(self) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as problem:
            if problem.args[0].code() != KafkaError._NO_OFFSET:  # it has read nothing
                raise

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonMember:
    """Polled by a thread of its own: two of them that are polled in turn each wait for the other to join."""

    def __init__(self, address: str, topic: str, group: str, **settings: Any) -> None:
        self._consumer = KafkaConsumer(
            topic,
            bootstrap_servers=address,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            **settings,
        )
        self._lock = threading.Lock()  # the consumer is not made for two threads
        self._read: queue.SimpleQueue[Position] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll_on)
        self._thread.start()

    def _poll_on(self) -> None:
        while not self._ended.wait(THREAD_PAUSE_S):
            with self._lock:
                for messages in self._consumer.poll(timeout_ms=PATIENT_POLL_MS).values():
                    for message in messages:
                        self._read.put(Position(message.partition, message.offset))

    def poll(self) -> list[Position]:
        return [self._read.get() for _ in range(self._read.qsize())]

    def partitions(self) -> set[int]:
        return {assigned.partition for assigned in self._consumer.assignment()}

    def commit(self) -> None:
        with self._lock:
            self._consumer.commit()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._consumer.close(autocommit=False)


class AiokafkaMember:
    """Lives in an event loop on a thread of its own, as its heartbeats must go on while the test does other things."""

    def __init__(self, address: str, topic: str, group: str, **settings: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._consumer = self._run(self._start(address, topic, group, settings))

    @staticmethod
    async def _start(address: str, topic: str, group: str, settings: dict[str, Any]) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=address,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            **settings,
        )
        await consumer.start()
        return consumer

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ADMIN_DEADLINE_S)

    def poll(self) -> list[Position]:
        polled = self._run(self._consumer.getmany(timeout_ms=int(POLL_S * 1000)))
        return [Position(m.partition, m.offset) for messages in polled.values() for m in messages]

    def partitions(self) -> set[int]:
        return {assigned.partition for assigned in self._consumer.assignment()}

    def commit(self) -> None:
        self._run(self._consumer.commit())

    def close(self) -> None:
        self._run(self._consumer.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


NewMember = Callable[[str, str, str], Member]


def _confluent(**settings: str) -> NewMember:
    return lambda address, topic, group: ConfluentMember(address, topic, group, **settings)


def _kafka_python(assignor: Any) -> NewMember:
    return lambda address, topic, group: KafkaPythonMember(
        address, topic, group, partition_assignment_strategy=(assignor,)
    )


def _aiokafka(assignor: Any) -> NewMember:
    return lambda address, topic, group: AiokafkaMember(
        address, topic, group, partition_assignment_strategy=(assignor,)
    )


MEMBERS: dict[str, NewMember] = {
    "confluent-range": _confluent(partition_assignment_strategy="range"),
    "confluent-roundrobin": _confluent(partition_assignment_strategy="roundrobin"),
    "confluent-cooperative-sticky": _confluent(partition_assignment_strategy="cooperative-sticky"),
    "confluent-uniform": _confluent(group_protocol="consumer", group_remote_assignor="uniform"),
    "confluent-server-range": _confluent(group_protocol="consumer", group_remote_assignor="range"),
    "kafka-python-range": _kafka_python(RangePartitionAssignor),
    "kafka-python-roundrobin": _kafka_python(RoundRobinPartitionAssignor),
    # Its sticky assignor is left out: on Apache Kafka, too, it hands out the same records twice every few runs.
    "aiokafka-range": _aiokafka(AsyncRange),
    "aiokafka-roundrobin": _aiokafka(AsyncRoundRobin),
    "aiokafka-sticky": _aiokafka(AsyncSticky),
}
