"""What the members of a consumer group subscribe to, taken together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from typing import Final

from core_broker.coordinators.groups.consumer_member import ConsumerMember
from core_broker.coordinators.groups.regular_expressions import ResolvedRegex
from core_broker.metadata.image import ClusterImage

HASH_BYTES: Final = 8
PARTITION_COUNT_BYTES: Final = 4

Regexes = Mapping[str, ResolvedRegex]


def topics_of(member: ConsumerMember, regexes: Regexes) -> frozenset[str]:
    """By name and by pattern. A pattern that has not been resolved yet matches nothing."""
    resolved = regexes.get(member.regex) if member.regex else None
    return member.topics if resolved is None else member.topics | resolved.topics


def topic_ids_of(member: ConsumerMember, regexes: Regexes, image: ClusterImage) -> frozenset[bytes]:
    """Of the topics that exist."""
    topics = image.topics
    return frozenset(topics[name].topic_id for name in topics_of(member, regexes) if name in topics)


def topics_of_all(members: Iterable[ConsumerMember], regexes: Regexes) -> set[str]:
    return {name for member in members for name in topics_of(member, regexes)}


def metadata_hash(names: Iterable[str], image: ClusterImage) -> int:
    """Changes when a subscribed topic is created, grows, is deleted or is made anew; 0 when there is none.

    Only this broker compares it, so it need not be the hash that Kafka takes.
    """
    existing = [image.topics[name] for name in sorted(names) if name in image.topics]
    if not existing:
        return 0
    digest = blake2b(digest_size=HASH_BYTES)
    for topic in existing:
        digest.update(topic.topic_id)
        digest.update(len(topic.partitions).to_bytes(PARTITION_COUNT_BYTES))
        digest.update(topic.name.encode())
    return int.from_bytes(digest.digest(), signed=True)


def is_homogeneous(members: Collection[ConsumerMember], regexes: Regexes) -> bool:
    """Whether all members subscribe to the same topics, in a way that can be told by counting."""
    by_name = Counter(name for member in members for name in member.topics)
    patterns = Counter(member.regex for member in members if member.regex)
    if not patterns:
        return all(count == len(members) for count in by_name.values())
    return len(members) in patterns.values() and not by_name
