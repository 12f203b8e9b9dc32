"""Consumer groups on virtual time: a shard with a log in memory, a cluster made by hand, and members that follow the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from core_broker.context import ConnectionMembers, Listener, RequestContext
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_protocol import refusal
from core_broker.coordinators.groups.consumer_settings import Bounds, ConsumerSettings
from core_broker.coordinators.groups.shard_state import GroupShardState
from core_broker.metadata.image import EMPTY, ClusterImage, PartitionImage, TopicImage, frozen
from core_broker.security.principal import ANONYMOUS
from tests.core_broker.coordinators.groups.memory_shard import DEFAULTS, MemoryShard
from tests.core_broker.coordinators.virtual_time import VirtualTime

GROUP = "g"
SESSION_MS = 45_000
REBALANCE_MS = 60_000
ASSIGNMENT_INTERVAL_MS = 1000
SETTINGS = ConsumerSettings(
    assignors=("uniform", "range"),
    heartbeat_interval_ms=5000,
    heartbeat_interval_bounds=Bounds(5000, 15000),
    session_timeout_ms=SESSION_MS,
    session_timeout_bounds=Bounds(45_000, 60_000),
    assignment_interval_ms=0,
    assignment_interval_bounds=Bounds(0, 15000),
    members_max=2**31 - 1,
    classic_members_max=2**31 - 1,
    may_upgrade=True,
    may_downgrade=True,
    regex_refresh_interval_ms=600_000,
)
_PARTITION = PartitionImage((1,), (1,), (), 1, 0, 0)

Result = TypeVar("Result")


class HandMadeCluster:
    """Topics that a test makes. Work in the background waits until `work` is called."""

    def __init__(self) -> None:
        self.image = EMPTY
        self.settings = SETTINGS
        self.new_topics_version = 0
        self.hidden: set[str] = set()
        self._waiting: list[Callable[[], None]] = []
        self._made = 0

    def settings_of(self, group_id: str) -> ConsumerSettings:
        return self.settings

    def may_describe(self, context: RequestContext, topic: str) -> bool:
        return topic not in self.hidden

    def in_background(self, work: Callable[[], Result], done: Callable[[Result | Exception], None]) -> None:
        self._waiting.append(lambda: done(work()))

    def work(self) -> None:
        waiting, self._waiting = self._waiting, []
        for job in waiting:
            job()

    def set_topic(self, name: str, partitions: int) -> frozenset[str]:
        """Makes a topic, lets it grow, or deletes it when it is to have no partitions. Returns what has changed."""
        topics = dict(self.image.topics)
        if partitions == 0:
            del topics[name]
        else:
            if name not in topics:
                self._made += 1
            known = topics.get(name)
            topic_id = self._made.to_bytes(16) if known is None else known.topic_id
            topics[name] = TopicImage(name, topic_id, (_PARTITION,) * partitions)
        before, self.image = self.image, _image(topics, self.image.offset + 1)
        if not topics.keys() <= before.topics.keys():
            self.new_topics_version = self.image.offset
        return frozenset([name])

    def topic_id(self, name: str) -> bytes:
        return self.image.topics[name].topic_id


def _image(topics: dict[str, TopicImage], offset: int) -> ClusterImage:
    names = {topic.topic_id: name for name, topic in topics.items()}
    return replace(EMPTY, topics=frozen(topics), topic_names=frozen(names), offset=offset)


class ConsumerShard(MemoryShard):
    """A shard that serves consumers."""

    def __init__(self, time: VirtualTime, cluster: HandMadeCluster, **settings: int) -> None:
        self.cluster = cluster
        self.connection = ConnectionMembers()
        super().__init__(time, replace(DEFAULTS, initial_rebalance_delay_ms=0, **settings))

    def _new_state(self) -> GroupShardState:
        state = super()._new_state()
        state.serve_consumers(self.cluster)
        return state

    def reload(self) -> None:
        """The broker before the crash runs no timers any more."""
        self.state.deactivate()
        super().reload()

    @property
    def group(self) -> ConsumerGroup:
        group = self.state.groups[GROUP]
        assert isinstance(group, ConsumerGroup)
        return group

    def set_topic(self, name: str, partitions: int) -> None:
        changed = self.cluster.set_topic(name, partitions)
        assert self.state.consumers is not None
        self.state.consumers.topics_changed(changed)

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        answers: list[ConsumerGroupHeartbeatResponse] = []
        assert self.state.consumers is not None
        try:
            self.state.consumers.protocol.heartbeat(context(self.connection), request, answers.append)
        except KafkaError as error:
            answers.append(refusal(error))
        (answer,) = answers
        return answer


def context(members: ConnectionMembers) -> RequestContext:
    return RequestContext(68, 1, 0, "client", ANONYMOUS, Listener("L", "h", 1, "h", 1), "10.0.0.1", members=members)


class Consumer:
    """A member that does what a consumer does: takes what it is given, gives up what it is not given any more."""

    def __init__(self, shard: ConsumerShard, member_id: str, *topics: str, instance_id: str | None = None) -> None:
        self._shard = shard
        self.member_id = member_id
        self.topics = topics
        self.regex: str | None = None
        self.instance_id = instance_id
        self.epoch = 0
        self.owned: set[tuple[bytes, int]] = set()
        self.is_joined = False

    def join(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        self.epoch = 0
        self.owned = set()
        answer = self._say(
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS,
            subscribed_topic_names=list(self.topics),
            subscribed_topic_regex=self.regex,
            topic_partitions=[],
            **fields,
        )
        self.is_joined = answer.error_code == ErrorCode.NONE
        return answer

    def beat(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        return self._say(instance_id=self.instance_id, topic_partitions=self._owned(), **fields)

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
        self.epoch = epoch
        self.is_joined = False
        self.owned = set()
        return self._say(instance_id=self.instance_id)

    def subscribe(self, *topics: str) -> ConsumerGroupHeartbeatResponse:
        self.topics = topics
        return self.beat(subscribed_topic_names=list(topics))

    def _owned(self) -> list[TopicPartitions]:
        topics: dict[bytes, list[int]] = {}
        for topic_id, number in sorted(self.owned):
            topics.setdefault(topic_id, []).append(number)
        return [TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in topics.items()]

    def _say(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            **fields,  # type: ignore[arg-type]  # each test knows the fields that it sets
        )
        answer = self._shard.heartbeat(request)
        if answer.error_code == ErrorCode.NONE and self.epoch >= 0:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = {
                    (topic.topic_id, number)
                    for topic in answer.assignment.topic_partitions
                    for number in topic.partitions
                }
        elif answer.error_code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.is_joined = False
            self.owned = set()
        return answer

    def partitions(self, topic: str) -> list[int]:
        topic_id = self._shard.cluster.topic_id(topic)
        return sorted(number for owned_id, number in self.owned if owned_id == topic_id)


def settle(*consumers: Consumer) -> None:
    """Heartbeats until nobody is told anything new."""
    for _ in range(20):
        answers = [consumer.beat() for consumer in consumers]
        assert all(answer.error_code == ErrorCode.NONE for answer in answers)
        if all(answer.assignment is None for answer in answers) and len({c.epoch for c in consumers}) == 1:
            return
    raise AssertionError("the group does not settle")
