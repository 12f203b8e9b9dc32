"""The broker's assignors: what every assignment must be, and what Apache Kafka's assign to the same groups."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_broker.coordinators.groups.assignors.catalogue import ASSIGNORS
from core_broker.coordinators.groups.assignors.group_spec import Assignment, GroupSpec, MemberSpec

GOLDEN = Path(__file__).parent / "assignments_of_kafka.jsonl"
"""Groups drawn at random, and what the assignors of Apache Kafka 4.3.0 gave their members."""

TOPICS = [number.to_bytes(16) for number in range(1, 6)]


@st.composite
def groups(draw: st.DrawFn, *, homogeneous: bool | None = None) -> GroupSpec:
    counts = {topic_id: draw(st.integers(1, 12)) for topic_id in TOPICS}
    same = draw(st.booleans()) if homogeneous is None else homogeneous
    everybody = frozenset(draw(st.sets(st.sampled_from(TOPICS), min_size=1)))
    ids = draw(st.lists(st.text("abcdef0123456789-", min_size=1, max_size=6), min_size=1, max_size=8, unique=True))
    members = {
        member_id: MemberSpec(None, everybody if same else frozenset(draw(st.sets(st.sampled_from(TOPICS)))), {})
        for member_id in ids
    }
    subscribed = {topic_id for member in members.values() for topic_id in member.topic_ids}
    return GroupSpec(members, {topic_id: counts[topic_id] for topic_id in subscribed}, same)


def with_assigned(group: GroupSpec, assigned: dict[str, Assignment]) -> GroupSpec:
    members = {
        member_id: spec._replace(assigned=assigned.get(member_id, {})) for member_id, spec in group.members.items()
    }
    return group._replace(members=members)


def check_complete(group: GroupSpec, assigned: dict[str, Assignment]) -> None:
    """Every partition is with exactly one member, which subscribes to its topic."""
    given_out = Counter(
        (topic_id, partition)
        for member_id, topics in assigned.items()
        for topic_id, partitions in topics.items()
        for partition in partitions
        if topic_id in group.members[member_id].topic_ids
    )
    expected = {(topic_id, number) for topic_id, count in group.partition_counts.items() for number in range(count)}
    assert given_out.keys() == expected
    assert set(given_out.values()) <= {1}
    assert all(partitions for topics in assigned.values() for partitions in topics.values())


def loads(group: GroupSpec, assigned: dict[str, Assignment]) -> dict[str, int]:
    return {member_id: sum(map(len, assigned.get(member_id, {}).values())) for member_id in group.members}


@pytest.mark.parametrize("name", ASSIGNORS)
@given(group=groups())
def test_every_partition_has_one_owner_also_when_the_group_changes(name: str, group: GroupSpec) -> None:
    assigned = ASSIGNORS[name](group)
    check_complete(group, assigned)
    fewer = dict(list(group.members.items())[: max(1, len(group.members) // 2)])
    topics = {topic_id for spec in fewer.values() for topic_id in spec.topic_ids}
    counts = {topic_id: group.partition_counts[topic_id] + 1 for topic_id in topics}
    changed = with_assigned(GroupSpec(fewer, counts, group.is_homogeneous), assigned)
    check_complete(changed, ASSIGNORS[name](changed))


@given(group=groups(homogeneous=True))
def test_uniform_is_even_and_keeps_what_it_can(group: GroupSpec) -> None:
    assigned = ASSIGNORS["uniform"](group)
    sizes = loads(group, assigned).values()
    assert max(sizes) - min(sizes) <= 1
    assert ASSIGNORS["uniform"](with_assigned(group, assigned)) == assigned, "nothing has changed"
    grown = GroupSpec(
        {**group.members, "newcomer": next(iter(group.members.values()))}, group.partition_counts, is_homogeneous=True
    )
    moved = ASSIGNORS["uniform"](with_assigned(grown, assigned))
    after = loads(grown, moved)
    assert max(after.values()) - min(after.values()) <= 1
    for member_id in group.members:
        kept = sum(
            len(partitions & moved[member_id].get(topic_id, frozenset()))
            for topic_id, partitions in assigned.get(member_id, {}).items()
        )
        assert kept == min(after[member_id], loads(group, assigned)[member_id]), "only what the newcomer gets has moved"


@given(group=groups(homogeneous=False))
def test_uniform_keeps_an_assignment_of_uneven_subscriptions_that_is_even_enough(group: GroupSpec) -> None:
    assigned = ASSIGNORS["uniform"](group)
    again = ASSIGNORS["uniform"](with_assigned(group, assigned))
    for topic_id in group.partition_counts:
        subscribers = [member_id for member_id, spec in group.members.items() if topic_id in spec.topic_ids]
        sizes = loads(group, again)
        givers = [sizes[m] for m in subscribers if again.get(m, {}).get(topic_id)]
        assert max(givers) - min(sizes[m] for m in subscribers) <= 1, (
            "whoever has much could have given to who has little"
        )


@given(group=groups(homogeneous=True))
def test_range_cuts_topics_of_the_same_size_alike(group: GroupSpec) -> None:
    assigned = ASSIGNORS["range"](group)
    for first in group.partition_counts:
        for second in group.partition_counts:
            if group.partition_counts[first] == group.partition_counts[second]:
                assert all(topics.get(first) == topics.get(second) for topics in assigned.values())


@pytest.mark.parametrize("line", GOLDEN.read_text().splitlines(), ids=lambda line: str(json.loads(line)["name"]))
def test_the_same_as_kafka(line: str) -> None:
    case = json.loads(line)
    group = GroupSpec(
        {
            member_id: MemberSpec(
                member["instance"],
                frozenset(map(bytes.fromhex, member["topics"])),
                {bytes.fromhex(topic): frozenset(numbers) for topic, numbers in member["assigned"].items()},
            )
            for member_id, member in case["members"].items()
        },
        {bytes.fromhex(topic): count for topic, count in case["topics"].items()},
        case["homogeneous"],
    )
    assigned = ASSIGNORS[case["assignor"]](group)
    plain = {
        member_id: {topic.hex(): sorted(numbers) for topic, numbers in topics.items()}
        for member_id, topics in assigned.items()
        if topics
    }
    assert plain == case["expected"]
