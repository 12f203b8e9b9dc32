"""What the broker says of the topics of queries, as the driver process asks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.spark.sources.positions import TopicState

ANSWER_DEADLINE_S: Final = 10.0
_LOG_NOTHING: Final = 0

_EARLIEST: Final[OffsetSpec] = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: Final[OffsetSpec] = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class TopicMissing(Exception):
    """A topic of a query that is not there; the message says what to do."""


class GroupOffset(NamedTuple):
    """What a group has committed for a partition."""

    group: str
    topic: str
    partition: int
    offset: int


class TopicStates:
    """KafkaException where the broker does not answer."""

    def __init__(self, access: KafkaAccess) -> None:
        # Whether there is a broker is told by who asks for something, not by the client each time it tries.
        self._admin = AdminClient(
            {
                **CLUSTER_NEWS,
                **access.librdkafka,
                "bootstrap.servers": access.bootstrap_servers,
                "log_level": _LOG_NOTHING,
            }
        )

    def ids(self, topics: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The id of each topic, and how many partitions it has. Those that are not there are left out."""
        names = sorted(set(topics))
        if not names:
            return {}
        asked = self._admin.describe_topics(TopicCollection(names), request_timeout=ANSWER_DEADLINE_S)
        found = {}
        for name, answer in asked.items():
            try:
                described = answer.result()
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
            else:
                found[name] = (str(described.topic_id), len(described.partitions))
        return found

    def states(self, topics: Iterable[str]) -> dict[str, TopicState]:
        """The same with the records that there are."""
        ids = self.ids(topics)
        places = [TopicPartition(name, partition) for name, (_, count) in ids.items() for partition in range(count)]
        first, last = self._offsets(places, _EARLIEST), self._offsets(places, _LATEST)
        return {
            name: TopicState(
                id_,
                {partition: (first[name, partition], last[name, partition]) for partition in range(count)},
            )
            for name, (id_, count) in ids.items()
        }

    def _offsets(self, places: Iterable[TopicPartition], spec: OffsetSpec) -> Mapping[tuple[str, int], int]:
        asked = self._admin.list_offsets(dict.fromkeys(places, spec), request_timeout=ANSWER_DEADLINE_S)
        return {(place.topic, place.partition): answer.result().offset for place, answer in asked.items()}

    def group_offsets(self, prefix: str) -> list[GroupOffset]:
        """What groups whose names begin so have committed."""
        found: list[GroupOffset] = []
        for group in self._groups(prefix):
            asked: Any = self._admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group)], request_timeout=ANSWER_DEADLINE_S
            )
            places = asked[group].result().topic_partitions
            found += [GroupOffset(group, place.topic, place.partition, place.offset) for place in places]
        return found

    def _groups(self, prefix: str) -> list[str]:
        listed = self._admin.list_consumer_groups(request_timeout=ANSWER_DEADLINE_S).result()
        return [group.group_id for group in listed.valid if group.group_id.startswith(prefix)]

    def forget_groups(self, prefix: str) -> None:
        """Delete the groups whose names begin so: those of the tasks of a query that is gone."""
        names = self._groups(prefix)
        if not names:
            return
        for answer in self._admin.delete_consumer_groups(names, request_timeout=ANSWER_DEADLINE_S).values():
            answer.exception()


def missing_text(topic: str, *, is_sink: bool) -> str:
    if is_sink:
        return (
            f"Topic {topic}, to which the query writes, is not there any more. Create it again, and the query goes on by itself; "
            "or terminate the query."
        )
    return (
        f"Topic {topic}, from which the query reads, is not there any more. Create it again, and the query goes on by itself from its "
        "beginning; or terminate the query."
    )
