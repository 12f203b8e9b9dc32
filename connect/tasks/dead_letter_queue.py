"""The dead-letter queue: bad records as they were, with headers that tell what was wrong."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from confluent_kafka.cimpl import NewTopic

from connect.errors import ConnectError, Retry
from connect.tasks.record_producer import ProducerMessage, RecordProducer, TopicMessages
from connect.tasks.settings import DLQ_REPLICATION, ErrorSettings
from connect.tasks.spec import TaskId
from connect.tasks.topic_creation import Topics
from connect.tasks.trace import class_name

PREFIX: Final = "__connect.errors."
PARTITIONS: Final = 1
SHOWN_MAX_BYTES: Final = 1_000
"""Of a key or a value in the log."""


class Stage(Enum):
    """Where an error came up, in Kafka Connect's words."""

    TASK_PUT = "TASK_PUT"
    TASK_POLL = "TASK_POLL"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"


@dataclass(frozen=True, slots=True)
class Origin:
    """A record as it was before anything was done to it: of a sink, as it lies in Kafka; of a source, as far as it got."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()
    partition: int | None = None
    offset: int | None = None
    timestamp_ms: int | None = None

    def __str__(self) -> str:
        return (
            f"the topic {self.topic}"
            if self.partition is None
            else f"{self.topic}-{self.partition} at offset {self.offset}"
        )

    @property
    def contents(self) -> str:
        """For the log: of a record that can be looked up in Kafka its time alone, as in Kafka Connect; else the beginnings of key and value."""
        if self.partition is not None:
            return f"timestamp {self.timestamp_ms}"
        return f"key {_beginning(self.key)}, value {_beginning(self.value)}"


def _beginning(data: bytes | None) -> str:
    return repr(data if data is None else data[:SHOWN_MAX_BYTES])


class DeadLetterQueue:
    """Writes bad records into the queue. They are durable once the producer is flushed."""

    def __init__(self, settings: ErrorSettings, task: TaskId, producer: RecordProducer) -> None:
        self._topic = settings.dlq_topic
        self._has_headers = settings.dlq_has_context
        self._task = task
        self._producer = producer

    def send(self, origin: Origin, stage: Stage, executor: object, error: BaseException) -> None:
        message: ProducerMessage = {"key": origin.key, "value": origin.value}
        headers = list(origin.headers)
        if self._has_headers:
            headers += self._context(origin, stage, executor, error)
        if headers:
            message["headers"] = headers
        if origin.timestamp_ms is not None:
            message["timestamp"] = origin.timestamp_ms
        self._producer.send(TopicMessages(self._topic, [message], has_headers=bool(headers)))

    def _context(self, origin: Origin, stage: Stage, executor: object, error: BaseException) -> list[tuple[str, bytes]]:
        cause = error.__cause__ if error.__cause__ is not None and type(error) is ConnectError else error
        told = {
            "topic": origin.topic,
            "partition": origin.partition,
            "offset": origin.offset,
            "connector.name": self._task.connector,
            "task.id": self._task.number,
            "stage": stage.value,
            "class.name": class_name(executor),
            "exception.class.name": class_name(cause),
            "exception.message": str(cause),
            "exception.stacktrace": "".join(traceback.format_exception(cause)),
        }
        return [(f"{PREFIX}{name}", str(value).encode()) for name, value in told.items() if value is not None]


def ensure_queue(settings: ErrorSettings, topics: Topics) -> None:
    """Create the topic of the queue if it is missing: with the replicas that were asked for, or as many as there are brokers."""
    replication = settings.dlq_replication
    if not settings.is_dlq_replication_given:
        replication = min(replication, topics.broker_count())
    try:
        topics.ensure(NewTopic(settings.dlq_topic, num_partitions=PARTITIONS, replication_factor=replication))
    except ConnectError as error:
        if isinstance(error, Retry):
            raise
        raise ConnectError(f"{error}. {DLQ_REPLICATION} is {replication}: are there as many brokers?") from error
