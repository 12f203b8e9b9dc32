"""Assignors: every partition has one reader who wants it, loads are even, and what is owned stays where it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.client.consumer.assignors import Subscriber, TopicPartition, assign
from barnabas.client.consumer.sticky_data import decode_partitions, encode_partitions

TOPICS = ("a", "b", "c")
counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 6), min_size=1)
subscriptions = st.lists(st.frozensets(st.sampled_from(TOPICS), min_size=1), min_size=1, max_size=5)
every_assignor = st.sampled_from(("range", "roundrobin", "sticky", "cooperative-sticky"))


def _members(wanted: list[frozenset[str]]) -> list[Subscriber]:
    return [Subscriber(f"m{number}", topics) for number, topics in enumerate(wanted)]


def _partitions(partition_counts: dict[str, int], wanted: list[frozenset[str]]) -> list[TopicPartition]:
    known = frozenset().union(*wanted)
    return [TopicPartition(t, n) for t, count in sorted(partition_counts.items()) if t in known for n in range(count)]


@given(every_assignor, counts, subscriptions)
def test_each_partition_has_one_reader_who_wants_it(
    name: str, partition_counts: dict[str, int], wanted: list[frozenset[str]]
) -> None:
    members = _members(wanted)
    found = assign(name, members, partition_counts)
    assert found.keys() == {member.member_id for member in members}
    assert sorted(p for given in found.values() for p in given) == sorted(_partitions(partition_counts, wanted))
    for member in members:
        assert all(partition.topic in member.topics for partition in found[member.member_id])


@given(st.sampled_from(("roundrobin", "sticky", "cooperative-sticky")), counts, st.integers(1, 6))
def test_loads_are_even_when_everyone_wants_the_same(name: str, partition_counts: dict[str, int], size: int) -> None:
    found = assign(name, _members([frozenset(TOPICS)] * size), partition_counts)
    loads = [len(given) for given in found.values()]
    assert max(loads) - min(loads) <= 1


@given(counts, st.integers(2, 6))
def test_nobody_who_stays_loses_more_than_is_needed(partition_counts: dict[str, int], size: int) -> None:
    """One member leaves: the others keep everything they had."""
    before = assign("sticky", _members([frozenset(TOPICS)] * size), partition_counts)
    stayed = [Subscriber(f"m{n}", TOPICS, owned=before[f"m{n}"], generation=1) for n in range(size - 1)]
    after = assign("sticky", stayed, partition_counts)
    for member in stayed:
        assert set(before[member.member_id]) <= set(after[member.member_id])


@given(counts, st.integers(1, 5))
def test_cooperation_takes_two_rounds_to_move_a_partition(partition_counts: dict[str, int], size: int) -> None:
    """A member comes: in the first round nothing changes hands, in the second loads are even."""
    before = assign("cooperative-sticky", _members([frozenset(TOPICS)] * size), partition_counts)
    owners = {p: member_id for member_id, given in before.items() for p in given}
    first = [Subscriber(f"m{n}", TOPICS, owned=before.get(f"m{n}", ()), generation=1) for n in range(size + 1)]
    between = assign("cooperative-sticky", first, partition_counts)
    for member_id, kept in between.items():
        assert all(owners[partition] == member_id for partition in kept)
    second = [Subscriber(f"m{n}", TOPICS, owned=between[f"m{n}"], generation=2) for n in range(size + 1)]
    after = assign("cooperative-sticky", second, partition_counts)
    assert sorted(p for given in after.values() for p in given) == sorted(owners)
    loads = [len(given) for given in after.values()]
    assert max(loads) - min(loads) <= 1


def test_of_two_owners_the_one_of_the_later_generation_is_believed() -> None:
    place = TopicPartition("a", 0)
    members = [
        Subscriber("old", TOPICS, owned=[place], generation=3),
        Subscriber("new", TOPICS, owned=[place], generation=4),
    ]
    assert assign("sticky", members, {"a": 1}) == {"old": [], "new": [place]}


def test_ranges_are_given_by_topic_and_static_members_first() -> None:
    members = [Subscriber("z", TOPICS), Subscriber("y", TOPICS), Subscriber("x", TOPICS, instance_id="i")]
    found = assign("range", members, {"a": 4, "b": 1})
    assert found == {
        "x": [TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)],
        "y": [TopicPartition("a", 2)],
        "z": [TopicPartition("a", 3)],
    }


@given(st.sets(st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 9))), st.integers(-1, 1000))
def test_what_sticky_members_remember_survives_the_wire(partitions: set[TopicPartition], generation: int) -> None:
    found, told = decode_partitions(encode_partitions(partitions, generation))
    assert (set(found), told) == (partitions, generation)
