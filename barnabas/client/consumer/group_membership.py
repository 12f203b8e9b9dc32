"""How a consumer takes part in a group: what both group protocols have in common, and the classic one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from barnabas.client.consumer.assignors import COOPERATIVE, NO_GENERATION, STICKY, Subscriber, TopicPartition, assign
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.consumer.sticky_data import decode_partitions, encode_partitions
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.membership import Generation, GroupMember, GroupSettings, MemberOffer
from barnabas.wire.records.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from barnabas.wire.records.consumer_protocol import TopicPartition as TopicPartitions
from barnabas.wire.records.framing import decode_newest, encode_versioned

PROTOCOL_TYPE: Final = "consumer"


@dataclass(frozen=True, slots=True)
class Place:
    """A member's place in its group, which offset commits name."""

    member_id: str = ""
    epoch: int = NO_GENERATION
    instance_id: str | None = None


class PartitionOwner(Protocol):
    """The consumer, as its membership sees it."""

    @property
    def wanted_topics(self) -> Sequence[str]: ...

    @property
    def assignment(self) -> frozenset[TopicPartition]: ...

    @property
    def partition_counts(self) -> Mapping[str, int]: ...

    async def give_up(self, partitions: Collection[TopicPartition]) -> None:
        """Stop reading and commit, as long as the group still accepts it."""

    async def take(self, partitions: Collection[TopicPartition], added: Collection[TopicPartition]) -> None:
        """Read from `partitions` on; `added` are those that are new."""


class Membership(Protocol):
    """A running membership."""

    @property
    def place(self) -> Place: ...

    async def run(self) -> None:
        """Take part until stopped; KafkaError when the group refuses for good."""

    def stop(self) -> None: ...

    def rejoin(self) -> None:
        """The subscription has changed."""


class ClassicMembership:
    """JoinGroup and SyncGroup: the leader among the consumers assigns."""

    def __init__(self, client: Client, settings: ConsumerSettings, owner: PartitionOwner) -> None:
        assert settings.group_id is not None, "a membership needs a group"
        self._settings = settings
        self._owner = owner
        self._place = Place(instance_id=settings.instance_id)
        self._generation = NO_GENERATION
        self._cooperative = all(name == COOPERATIVE for name in settings.assignors)
        self._before_rebalance: Collection[TopicPartition] = ()
        self._stopping = False
        self._member = GroupMember(
            client,
            GroupSettings(
                settings.group_id,
                PROTOCOL_TYPE,
                session_timeout_ms=settings.session_timeout_ms,
                rebalance_timeout_ms=settings.max_poll_interval_ms,
                heartbeat_interval_ms=settings.heartbeat_interval_ms,
                instance_id=settings.instance_id,
            ),
            self,
        )

    @property
    def place(self) -> Place:
        return self._place

    async def run(self) -> None:
        await self._member.run()

    def stop(self) -> None:
        self._stopping = True
        self._member.stop()

    def rejoin(self) -> None:
        self._member.rejoin()

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        return [(name, self._subscription(name)) for name in self._settings.assignors]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        subscribers = [_subscriber(protocol, offer) for offer in members]
        try:
            assignment = assign(protocol, subscribers, self._owner.partition_counts)
        except KeyError:
            known = ", ".join(self._settings.assignors)
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"the group chose the assignor {protocol!r}, and this member knows {known}",
            ) from None
        return {member_id: _encode_assignment(partitions) for member_id, partitions in assignment.items()}

    async def on_assigned(self, generation: Generation) -> None:
        self._generation = generation.number
        self._place = Place(generation.member_id, generation.number, self._settings.instance_id)
        assigned = _decode_assignment(generation.assignment)
        owned = self._owner.assignment
        revoked = owned - assigned
        if revoked:
            await self._owner.give_up(revoked)
        await self._owner.take(assigned, assigned - owned)
        self._before_rebalance = assigned
        if revoked and self._cooperative:
            # Whoever gets the partitions that were just given up learns it in another round.
            self._member.rejoin()

    async def on_revoked(self, generation: Generation) -> None:
        if not self._cooperative or self._stopping:
            await self._owner.give_up(self._owner.assignment)

    def _subscription(self, assignor: str) -> bytes:
        user_data = None
        if assignor == STICKY and self._before_rebalance:
            user_data = encode_partitions(self._before_rebalance, self._generation)
        subscription = ConsumerProtocolSubscription(
            topics=sorted(self._owner.wanted_topics),
            user_data=user_data,
            owned_partitions=_by_topic(self._owner.assignment),
            generation_id=self._generation,
            rack_id=self._settings.rack or None,
        )
        return encode_versioned(subscription, ConsumerProtocolSubscription.VERSIONS.high)


def _subscriber(protocol: str, offer: MemberOffer) -> Subscriber:
    subscription = decode_newest(ConsumerProtocolSubscription, offer.metadata)
    owned: Collection[TopicPartition] = _flat(subscription.owned_partitions)
    generation = subscription.generation_id
    if protocol == STICKY and not owned and subscription.user_data:
        owned, generation = decode_partitions(subscription.user_data)
    return Subscriber(offer.member_id, frozenset(subscription.topics), offer.instance_id, owned, generation)


def _encode_assignment(partitions: Collection[TopicPartition]) -> bytes:
    assignment = ConsumerProtocolAssignment(assigned_partitions=_by_topic(partitions))
    return encode_versioned(assignment, ConsumerProtocolAssignment.VERSIONS.high)


def _decode_assignment(data: bytes) -> frozenset[TopicPartition]:
    if not data:
        return frozenset()
    return frozenset(_flat(decode_newest(ConsumerProtocolAssignment, data).assigned_partitions))


def _by_topic(partitions: Collection[TopicPartition]) -> list[TopicPartitions]:
    grouped: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        grouped.setdefault(topic, []).append(number)
    return [TopicPartitions(topic=topic, partitions=numbers) for topic, numbers in grouped.items()]


def _flat(topics: Sequence[TopicPartitions]) -> list[TopicPartition]:
    return [TopicPartition(entry.topic, number) for entry in topics for number in entry.partitions]
