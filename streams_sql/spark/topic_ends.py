"""Where the partitions of a topic end now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS
from streams_sql.spark.broker_access import READ_COMMITTED, KafkaAccess
from streams_sql.spark.ranges import RecordsGoneError

ANSWER_DEADLINE_S: Final = 30.0
PARTITIONS_INTERVAL_S: Final = 1.0
"""How often a topic is asked for the number of its partitions."""

_LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class TopicEnds:
    """Behind the last record of a transaction that has come to its end: others are not to be read yet."""

    def __init__(self, access: KafkaAccess, topic: str) -> None:
        self._topic = topic
        self._admin = AdminClient({**CLUSTER_NEWS, **access.librdkafka, "bootstrap.servers": access.bootstrap_servers})
        is_committed = access.isolation_level == READ_COMMITTED
        self._isolation = IsolationLevel.READ_COMMITTED if is_committed else IsolationLevel.READ_UNCOMMITTED
        self._places: list[TopicPartition] = []
        self._asked_s = 0.0

    def ends(self) -> Mapping[int, int]:
        """KafkaException; RecordsGoneError where the topic is not there."""
        now_s = time.monotonic()
        if not self._places or now_s - self._asked_s > PARTITIONS_INTERVAL_S:
            self._places = [TopicPartition(self._topic, partition) for partition in self._partitions()]
            self._asked_s = now_s
        asked = self._admin.list_offsets(
            dict.fromkeys(self._places, _LATEST),
            isolation_level=self._isolation,
            request_timeout=ANSWER_DEADLINE_S,
        )
        try:
            return {place.partition: answer.result().offset for place, answer in asked.items()}
        except KafkaException as problem:
            self._places = []
            raise self._failure(problem.args[0]) from None

    def _partitions(self) -> list[int]:
        found = self._admin.list_topics(self._topic, timeout=ANSWER_DEADLINE_S).topics[self._topic]
        if found.error is not None:
            raise self._failure(found.error)
        return sorted(found.partitions)

    def _failure(self, error: KafkaError) -> Exception:
        if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return RecordsGoneError(f"Topic {self._topic} cannot be read any more: {error.str()}")
        return KafkaException(error)
