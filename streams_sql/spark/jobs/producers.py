"""Producers in Spark's workers: what a task writes is on the topic before the task is done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, Protocol

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from streams_sql.plan.pipeline import Row
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.written_time import written_time

FLUSH_DEADLINE_S: Final = 120.0
FULL_QUEUE_WAIT_S: Final = 0.05
PARTITION_UNASSIGNED: Final = -1

_SETTINGS: Final[dict[str, str | bool]] = {
    # Keys go where Java's clients would put them, so that joins find them.
    "partitioner": "murmur2_random",
    "enable.idempotence": "true",
    "compression.type": "lz4",
    "linger.ms": "5",
    "batch.size": "1000000",
    "queue.buffering.max.messages": "200000",
    "delivery.report.only.error": True,
}
_PRODUCERS: Final[dict[str, PlainProducer]] = {}


class TaskProducer(Protocol):
    """What a task writes with."""

    def unwritten(self, rows: list[Row]) -> list[Row]:
        """Those rows of the task that no earlier run of it has written. They must be asked for before they are produced."""

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
    ) -> Sequence[int]:
        """The places of those that are too large to be written."""

    def finish(self) -> None:
        """Return when everything is on the topic; raise if it cannot be."""

    def abandon(self) -> None:
        """The task has failed: what it has not written yet is forgotten."""


class NoProducer:
    """For rows that another query has written."""

    def unwritten(self, rows: list[Row]) -> list[Row]:
        return []

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
    ) -> Sequence[int]:
        return ()

    def finish(self) -> None:
        pass

    def abandon(self) -> None:
        pass


class PlainProducer:
    """At least once: a task that is run again writes again."""

    def __init__(self, access: KafkaAccess, settings: dict[str, str] | None = None) -> None:
        self._failure: KafkaError | None = None
        self._producer = Producer(
            {
                **_SETTINGS,
                **access.producer,
                **access.librdkafka,
                "bootstrap.servers": access.bootstrap_servers,
                **(settings or {}),
                "on_delivery": self._failed,
            }
        )

    def unwritten(self, rows: list[Row]) -> list[Row]:
        return rows

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
    ) -> Sequence[int]:
        # By place: names take librdkafka's binding almost as long as all the rest.
        produce: Any = self._producer.produce
        too_large = []
        times = map(written_time, timestamps)
        for place, (key, value, timestamp) in enumerate(zip(keys, values, times, strict=True)):
            try:
                produce(topic, value, key, PARTITION_UNASSIGNED, None, None, timestamp)
            except BufferError:
                self._when_there_is_room(topic, value, key, timestamp)
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError.MSG_SIZE_TOO_LARGE:
                    raise
                too_large.append(place)
        self._producer.poll(0)
        return too_large

    def finish(self) -> None:
        left = self._producer.flush(FLUSH_DEADLINE_S)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise KafkaException(failure)
        if left:
            raise TimeoutError(f"{left} records could not be written within {FLUSH_DEADLINE_S:.0f} s")

    def abandon(self) -> None:
        """One that has failed may never write again: the next task makes another."""
        for known in [known for known, producer in _PRODUCERS.items() if producer is self]:
            del _PRODUCERS[known]
        self._producer.purge()

    def _when_there_is_room(self, topic: str, value: bytes | None, key: bytes | None, timestamp: int) -> None:
        deadline = time.monotonic() + FLUSH_DEADLINE_S
        while True:
            self._producer.poll(FULL_QUEUE_WAIT_S)
            try:
                self._producer.produce(topic, value, key, timestamp=timestamp)
            except BufferError:
                if time.monotonic() > deadline:
                    raise
            else:
                return

    def _failed(self, error: KafkaError | None, message: Message) -> None:
        self._failure = error or self._failure


def shared_producer(access: KafkaAccess) -> PlainProducer:
    """The one producer of this worker process."""
    known = access.bootstrap_servers
    if known not in _PRODUCERS:
        _PRODUCERS[known] = PlainProducer(access)
    return _PRODUCERS[known]
