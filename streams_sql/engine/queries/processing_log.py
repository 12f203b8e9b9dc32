"""Errors of queries as records of a topic, in the form of ksqlDB's processing log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from confluent_kafka import KafkaException, Producer

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import BROKER_DEFAULT, TopicShape
from streams_sql.engine.queries.error_log import QUERY_FAILED, QueryError
from streams_sql.plan.records import ProblemKind
from streams_sql.sql_types import quoted

RECORDS_PER_S_MAX: Final = 100
"""Written of all queries together; what is beyond that is counted in the record that comes next."""
FLUSH_S: Final = 5.0
QUEUE_RECORDS_MAX: Final = 10_000

_COLUMNS: Final = (
    "logger VARCHAR, level VARCHAR, time BIGINT, message STRUCT<type INT, "
    "deserializationError STRUCT<target VARCHAR, errorMessage VARCHAR, recordB64 VARCHAR, cause ARRAY<VARCHAR>, `topic` VARCHAR>, "
    "recordProcessingError STRUCT<errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>>, "
    "productionError STRUCT<errorMessage VARCHAR>, "
    "serializationError STRUCT<target VARCHAR, errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>, `topic` VARCHAR>, "
    "kafkaStreamsThreadError STRUCT<errorMessage VARCHAR, threadName VARCHAR, cause ARRAY<VARCHAR>>>, "
    # Beyond ksqlDB: which record it was, and how many were left out before this one.
    "origin STRUCT<queryId VARCHAR, `topic` VARCHAR, `partition` INT, `offset` BIGINT, times BIGINT>, omitted BIGINT"
)
_TYPES: Final[Mapping[str, int]] = {
    ProblemKind.DESERIALIZATION: 0,
    ProblemKind.PROCESSING: 1,
    ProblemKind.SERIALIZATION: 3,
    QUERY_FAILED: 4,
}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProcessingLogSettings:
    """Without `topic`, nothing is written."""

    topic: str | None
    partitions: int = 1
    replicas: int = BROKER_DEFAULT
    stream: str | None = None
    has_rows: bool = False

    @property
    def stream_statement(self) -> str | None:
        """What makes the stream over the topic, where one is wanted."""
        if self.stream is None or self.topic is None:
            return None
        return (
            f"CREATE STREAM IF NOT EXISTS {quoted(self.stream)} ({_COLUMNS}) "
            f"WITH (KAFKA_TOPIC='{self.topic}', VALUE_FORMAT='JSON', KEY_FORMAT='KAFKA');"
        )


class ProcessingLog:
    """`write` may be called by any thread, and never waits: what Kafka does not take in time is left out, and counted."""

    def __init__(
        self,
        settings: ProcessingLogSettings,
        client: Mapping[str, Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._client = {**client, "queue.buffering.max.messages": QUEUE_RECORDS_MAX, "linger.ms": 50}
        self._clock = clock
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._second = -1
        self._written = 0
        self._omitted = 0

    async def start(self, admin: Admin) -> None:
        """Make the topic. StoreFailure."""
        own = self._settings
        if own.topic is not None:
            await admin.create_topic(TopicShape(own.topic, own.partitions, own.replicas, {}))

    def write(self, error: QueryError) -> None:
        if self._settings.topic is None:
            return
        with self._lock:
            if not self._has_room():
                self._omitted += 1
                return
            omitted, self._omitted = self._omitted, 0
            if self._producer is None:
                self._producer = Producer(self._client)
            try:
                self._producer.produce(self._settings.topic, orjson.dumps(record_of(error, omitted)))
                self._producer.poll(0)
            except (KafkaException, BufferError) as problem:
                self._omitted += 1 + omitted
                _logger.warning("an error of %s is not in the processing log: %s", error.query_id, problem)

    def stop(self) -> None:
        """Waits for what is under way."""
        if self._producer is not None:
            self._producer.flush(FLUSH_S)

    def _has_room(self) -> bool:
        second = int(self._clock())
        if second != self._second:
            self._second, self._written = second, 0
        self._written += 1
        return self._written <= RECORDS_PER_S_MAX


def record_of(error: QueryError, omitted: int = 0) -> dict[str, Any]:
    return {
        "logger": f"processing.{error.query_id}",
        "level": "ERROR",
        "time": error.time_ms,
        "message": {"type": _TYPES[error.kind], **_member(error)},
        "origin": {
            "queryId": error.query_id,
            "topic": error.topic or None,
            "partition": None if error.partition < 0 else error.partition,
            "offset": None if error.offset < 0 else error.offset,
            "times": error.times,
        },
        "omitted": omitted,
    }


def _member(error: QueryError) -> dict[str, Any]:
    common = {"errorMessage": error.message, "cause": []}
    match error.kind:
        case ProblemKind.DESERIALIZATION:
            more = {"target": error.part or None, "recordB64": error.raw, "topic": error.topic}
            return {"deserializationError": common | more}
        case ProblemKind.PROCESSING:
            return {"recordProcessingError": common | {"record": error.raw}}
        case ProblemKind.SERIALIZATION:
            more = {"target": error.part or None, "record": error.raw, "topic": error.topic}
            return {"serializationError": common | more}
    return {"kafkaStreamsThreadError": common | {"threadName": error.query_id}}
