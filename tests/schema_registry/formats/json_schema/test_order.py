"""The order in which differences come, and how subschemas are paired."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from barnabas.kernel.java.hash_map import copy_capacity, hash_map_order
from schema_registry.formats.json_schema.matching import largest_matching

SMALL = ["total", "notes", "created", "name", "vat", "currency", "id", "lines", "net", "customer", "status", "tags"]
LARGE = ["notes", "created", "vat", "tags", "total", "name", "currency", "id", "lines", "net", "customer", "status"]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["zip", "name", "age"], ["zip", "name", "age"]),
        (["BB", "Aa"], ["BB", "Aa"]),
        (["ä", "é", "😀"], ["ä", "😀", "é"]),
    ],
)
def test_names_come_in_the_order_of_a_java_hash_table(names: list[str], order: list[str]) -> None:
    assert hash_map_order(names) == order


def test_a_table_that_was_filled_from_another_is_larger() -> None:
    names = ["id", "name", "total", "created", "customer", "lines", "currency", "status", "notes", "tags", "net", "vat"]
    assert hash_map_order(names) == SMALL
    assert hash_map_order(names, copy_capacity(len(names))) == LARGE


def largest_by_trying(edges: dict[int, list[int]], right: int) -> int:
    orders = permutations(range(right), min(len(edges), right)) if len(edges) <= right else permutations(range(right))
    best = 0
    for order in orders:
        best = max(best, sum(position in edges[left] for left, position in zip(edges, order, strict=False)))
    return best


def test_a_matching_is_as_large_as_can_be() -> None:
    random = Random(7)
    for _ in range(200):
        left, right = random.randint(1, 5), random.randint(5, 6)
        edges = {vertex: [other for other in range(right) if random.random() < 0.35] for vertex in range(left)}
        matching = largest_matching(edges)
        assert all(position in edges[vertex] for vertex, position in matching.items())
        assert len(set(matching.values())) == len(matching)
        assert len(matching) == largest_by_trying(edges, right)
