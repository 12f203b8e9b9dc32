"""Where the partitions of topics end now."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS
from streams_sql.spark.sources.broker_access import READ_COMMITTED, KafkaAccess
from streams_sql.spark.sources.ranges import Partition, RecordsGoneError

ANSWER_DEADLINE_S: Final = 30.0
PARTITIONS_INTERVAL_S: Final = 1.0
"""How often topics are asked for the number of their partitions."""

_LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class TopicEnds:
    """Behind the last record of a transaction that has come to its end: others are not to be read yet."""

    def __init__(self, access: KafkaAccess, topics: Iterable[str]) -> None:
        self._topics = tuple(topics)
        self._admin = AdminClient({**CLUSTER_NEWS, **access.librdkafka, "bootstrap.servers": access.bootstrap_servers})
        is_committed = access.isolation_level == READ_COMMITTED
        self._isolation = IsolationLevel.READ_COMMITTED if is_committed else IsolationLevel.READ_UNCOMMITTED
        self._places: list[TopicPartition] = []
        self._asked_s = 0.0

    def ends(self) -> Mapping[Partition, int]:
        """KafkaException; RecordsGoneError where a topic does not exist."""
        now_s = time.monotonic()
        if not self._places or now_s - self._asked_s > PARTITIONS_INTERVAL_S:
            self._places = [place for topic in self._topics for place in self._partitions(topic)]
            self._asked_s = now_s
        asked = self._admin.list_offsets(
            dict.fromkeys(self._places, _LATEST),
            isolation_level=self._isolation,
            request_timeout=ANSWER_DEADLINE_S,
        )
        found = {}
        for place, answer in asked.items():
            try:
                found[place.topic, place.partition] = answer.result().offset
            except KafkaException as problem:
                self._places = []
                raise _failure(place.topic, problem.args[0]) from None
        return found

    def _partitions(self, topic: str) -> list[TopicPartition]:
        found = self._admin.list_topics(topic, timeout=ANSWER_DEADLINE_S).topics[topic]
        if found.error is not None:
            raise _failure(topic, found.error)
        return [TopicPartition(topic, partition) for partition in sorted(found.partitions)]


def _failure(topic: str, error: KafkaError) -> Exception:
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return RecordsGoneError(f"Topic {topic} cannot be read any more: {error.str()}")
    return KafkaException(error)
