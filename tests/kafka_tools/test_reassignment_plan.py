"""Plans to move partitions: how replicas are spread, and plans that make no sense."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from barnabas.kafka_tools.reassignment.reassignment_plan import check_executable, parse_plan, propose, spread, to_json
from barnabas.kafka_tools.shell.exits import ToolError


@given(
    brokers=some.integers(1, 9), partitions=some.integers(1, 40), factor=some.integers(1, 4), seed=some.integers(0, 99)
)
def test_replicas_are_different_and_leaders_are_even(brokers: int, partitions: int, factor: int, seed: int) -> None:
    factor = min(factor, brokers)
    racks = dict.fromkeys(range(10, 10 + brokers))
    found = spread(partitions, factor, racks, random.Random(seed))
    assert len(found) == partitions
    assert all(len(set(replicas)) == len(replicas) == factor for replicas in found)
    leaders = Counter(replicas[0] for replicas in found)
    assert max(leaders.values()) - min(leaders.get(broker, 0) for broker in racks) <= 1


@given(seed=some.integers(0, 99), factor=some.integers(1, 3))
def test_replicas_are_in_as_many_racks_as_there_can_be(seed: int, factor: int) -> None:
    racks: dict[int, str | None] = {0: "a", 1: "b", 2: "c", 3: "a", 4: "b", 5: "a"}
    for replicas in spread(20, factor, racks, random.Random(seed)):
        assert len({racks[broker] for broker in replicas}) == factor


def test_a_plan_keeps_the_number_of_replicas_and_can_be_read_again() -> None:
    current = {("b", 0): [1, 2], ("a", 0): [1], ("a", 1): [2]}
    proposed = propose(current, dict.fromkeys((1, 2, 3)), random.Random(1))
    assert {partition: len(replicas) for partition, replicas in proposed.items()} == {
        ("a", 0): 1,
        ("a", 1): 1,
        ("b", 0): 2,
    }
    plan = parse_plan(to_json(proposed))
    assert plan.targets == proposed
    assert plan.folders == {}
    check_executable(plan)


def test_more_replicas_than_brokers_are_refused() -> None:
    with pytest.raises(ToolError, match="Replication factor: 2 larger than available brokers: 1"):
        propose({("a", 0): [1, 2]}, {1: None}, random.Random(1))


def test_log_directories_belong_to_replicas() -> None:
    text = '{"partitions": [{"topic": "a", "partition": 3, "replicas": [1, 2], "log_dirs": ["any", "/x"]}]}'
    assert parse_plan(text).folders == {("a", 3, 2): "/x"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "The reassignment file is no valid JSON"),
        ("[]", "Expected JSON object"),
        ('{"partitions": [{"partition": 0, "replicas": []}]}', "No such field exists: `topic`"),
        ('{"partitions": [{"topic": 7, "partition": 0, "replicas": []}]}', "Expected `str` value of `topic`"),
        ('{"partitions": [{"topic": "a", "partition": true, "replicas": []}]}', "Expected `int` value of `partition`"),
        ('{"partitions": [{"topic": "a", "partition": 0, "replicas": ["1"]}]}', "Expected a list of `int`"),
    ],
)
def test_nonsense_is_told_apart(text: str, complaint: str) -> None:
    with pytest.raises(ToolError) as refused:
        parse_plan(text)
    assert complaint in refused.value.message
