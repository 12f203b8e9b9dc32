"""What an instance consumes at present."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum

from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.v2.consuming.partition import Partition
from rest_proxy.v2.consuming.refusals import mutually_exclusive, not_assigned
from rest_proxy.v2.consuming.topic_pattern import TopicPattern


class Source(Enum):
    """Where the partitions come from."""

    NONE = "none"
    TOPICS = "topics"
    PATTERN = "pattern"
    PARTITIONS = "partitions"


@dataclass(slots=True)
class Consumption:
    source: Source = Source.NONE
    topics: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """Those of the topics that did not exist when librdkafka looked."""
    pattern: TopicPattern | None = None
    match_again_s: float = 0.0
    assigned: set[Partition] = field(default_factory=set)
    untold: bool = False
    """Whether the client has chosen partitions of which librdkafka does not know yet."""
    seeks: dict[Partition, int] = field(default_factory=dict)
    """Moves that librdkafka has not made yet."""
    stopped: dict[Partition, KafkaFailure] = field(default_factory=dict)
    """Where librdkafka does not know where to go on and was told not to guess, with what it said. It is up to the client to move."""
    settled: bool = True
    """Whether the partitions are known, or there are none to wait for as things stand."""

    def check_free(self, source: Source) -> None:
        if self.source not in (Source.NONE, source):
            raise mutually_exclusive()

    def check_assigned(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            if partition not in self.assigned:
                raise not_assigned(partition)

    def join(self, topics: list[str]) -> None:
        """The group will say which partitions of these."""
        self.topics = topics
        self.missing.clear()
        self.settled = False

    def miss(self, topic: str) -> None:
        """A group does not even form as long as none of its topics exists."""
        self.missing.add(topic)
        if self.missing.issuperset(self.topics):
            self.settled = True

    def gain(self, partitions: Collection[Partition]) -> None:
        self.assigned.update(partitions)
        self.settled = True

    def lose(self, partitions: Collection[Partition]) -> None:
        self.assigned.difference_update(partitions)
        for partition in partitions:
            self.seeks.pop(partition, None)
            self.stopped.pop(partition, None)

    def standstill(self) -> KafkaFailure | None:
        """Why nothing comes from a partition that the client does not move in."""
        return next((failure for partition, failure in self.stopped.items() if partition not in self.seeks), None)

    def replace(self, partitions: Collection[Partition]) -> None:
        """Partitions that the client chose itself."""
        self.lose(self.assigned.difference(partitions))
        self.gain(partitions)
        self.source = Source.PARTITIONS
        self.untold = True

    def wants(self, partition: Partition) -> bool:
        """Whether records from there are still what the client asked for."""
        return partition in self.assigned and partition not in self.seeks
