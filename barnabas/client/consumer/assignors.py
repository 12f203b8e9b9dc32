"""How the leader of a classic group spreads partitions over consumers: Kafka's range, roundrobin, sticky and cooperative-sticky.

Everything here is a pure function of what the members told and of the topics' partition counts, so every member would
come to the same result.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

COOPERATIVE: Final = "cooperative-sticky"
STICKY: Final = "sticky"
NO_GENERATION: Final = -1


class TopicPartition(NamedTuple):
    """A partition of a topic, as Kafka writes it: `topic-0`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Subscriber:
    """One member: the topics it wants and, for the sticky assignors, what it owned and in which generation."""

    member_id: str
    topics: Collection[str]
    instance_id: str | None = None
    owned: Collection[TopicPartition] = ()
    generation: int = NO_GENERATION

    @property
    def rank(self) -> tuple[bool, str]:
        """Static members come first, in the order of their instance ids, which outlive member ids."""
        return self.instance_id is None, self.instance_id or self.member_id


Assignment = dict[str, list[TopicPartition]]
Assignor = Callable[[Sequence[Subscriber], Mapping[str, int]], Assignment]


def assign(name: str, subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> Assignment:
    """What each member id gets; topics without a partition count do not exist and are left out."""
    return _ASSIGNORS[name](sorted(subscribers, key=lambda member: member.rank), partition_counts)


def assign_range(subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> Assignment:
    """For each topic by itself: consecutive partitions, the first members one more if it does not come out even."""
    assignment: Assignment = {member.member_id: [] for member in subscribers}
    for topic, count in sorted(partition_counts.items()):
        wanting = [member.member_id for member in subscribers if topic in member.topics]
        first = 0
        for place, member_id in enumerate(wanting):
            size = count // len(wanting) + (place < count % len(wanting))
            assignment[member_id] += [TopicPartition(topic, number) for number in range(first, first + size)]
            first += size
    return assignment


def assign_round_robin(subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> Assignment:
    """All partitions of all topics in order, dealt out to the members in turn."""
    assignment: Assignment = {member.member_id: [] for member in subscribers}
    turn = 0
    for partition in _partitions(subscribers, partition_counts):
        while partition.topic not in subscribers[turn % len(subscribers)].topics:
            turn += 1
        assignment[subscribers[turn % len(subscribers)].member_id].append(partition)
        turn += 1
    return assignment


def assign_sticky(subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> Assignment:
    """As even as the subscriptions allow, and every member keeps what it owned as far as that goes."""
    assignment: Assignment = {member.member_id: [] for member in subscribers}
    wants = {member.member_id: frozenset(member.topics) for member in subscribers}
    partitions = _partitions(subscribers, partition_counts)
    owners = _owners(subscribers, frozenset(partitions))
    for partition in partitions:
        if partition in owners:
            assignment[owners[partition]].append(partition)
    by_choice = sorted(partitions, key=lambda p: (sum(p.topic in topics for topics in wants.values()), p))
    for partition in by_choice:
        if partition not in owners:
            _least_loaded(assignment, wants, partition.topic).append(partition)
    _balance(assignment, wants)
    return {member_id: sorted(given) for member_id, given in assignment.items()}


def assign_cooperative(subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> Assignment:
    """The sticky result without the partitions that someone else still owns: they move in the round after this one."""
    wanted = assign_sticky(subscribers, partition_counts)
    owners = _owners(subscribers, frozenset(_partitions(subscribers, partition_counts)))
    return {
        member_id: [partition for partition in given if owners.get(partition, member_id) == member_id]
        for member_id, given in wanted.items()
    }


def _partitions(subscribers: Sequence[Subscriber], partition_counts: Mapping[str, int]) -> list[TopicPartition]:
    wanted = {topic for member in subscribers for topic in member.topics}
    return [
        TopicPartition(topic, number)
        for topic, count in sorted(partition_counts.items())
        if topic in wanted
        for number in range(count)
    ]


def _owners(subscribers: Sequence[Subscriber], existing: frozenset[TopicPartition]) -> dict[TopicPartition, str]:
    """Who owns what; of two claims the one of the later generation holds, and of two equal ones neither."""
    claims: dict[TopicPartition, list[Subscriber]] = defaultdict(list)
    for member in subscribers:
        for partition in member.owned:
            if partition in existing and partition.topic in member.topics:
                claims[partition].append(member)
    owners = {}
    for partition, members in claims.items():
        latest = max(member.generation for member in members)
        holders = [member for member in members if member.generation == latest]
        if len(holders) == 1:
            owners[partition] = holders[0].member_id
    return owners


def _least_loaded(assignment: Assignment, wants: Mapping[str, frozenset[str]], topic: str) -> list[TopicPartition]:
    return min((given for member_id, given in assignment.items() if topic in wants[member_id]), key=len)


def _balance(assignment: Assignment, wants: Mapping[str, frozenset[str]]) -> None:
    """Moves partitions from the fullest to the emptiest member that wants them, while that makes it more even.

    Each move lowers the sum of the squared loads, so this ends.
    """
    moved = True
    while moved:
        moved = False
        for member_id in sorted(assignment, key=lambda who: -len(assignment[who])):
            for partition in reversed(assignment[member_id]):
                target = _least_loaded(assignment, wants, partition.topic)
                if len(target) + 1 < len(assignment[member_id]):
                    assignment[member_id].remove(partition)
                    target.append(partition)
                    moved = True
                    break


_ASSIGNORS: Final[Mapping[str, Assignor]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    STICKY: assign_sticky,
    COOPERATIVE: assign_cooperative,
}
