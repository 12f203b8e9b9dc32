"""A transaction hangs if it is open in a log for long and no coordinator counts the partition among its own."""

from __future__ import annotations

from barnabas.client.admin.hanging_transactions import hanging, open_for_long
from barnabas.client.admin.transaction_admin import NONE, ActiveProducer, DescribedTransaction
from barnabas.client.consumer.assignors import TopicPartition

NOW_MS = 10_000_000
LIMIT_MS = 900_000
KNOWN, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def producer(producer_id: int, *, age_ms: int = LIMIT_MS + 1, start: int = 5) -> ActiveProducer:
    return ActiveProducer(producer_id, 0, NONE, 0, NOW_MS - age_ms, start)


def described(transactional_id: str, producer_id: int, *partitions: TopicPartition) -> DescribedTransaction:
    return DescribedTransaction(1, transactional_id, producer_id, 0, "Ongoing", 60_000, 0, frozenset(partitions))


def test_only_transactions_that_are_open_for_long_are_looked_at() -> None:
    producers = [producer(1), producer(2, age_ms=LIMIT_MS), producer(3, start=NONE)]
    found = open_for_long({KNOWN: producers}, NOW_MS, LIMIT_MS)
    assert [one.producer.producer_id for one in found] == [1]
    assert found[0].age_minutes(NOW_MS) == 15


def test_those_that_a_coordinator_will_end_do_not_hang() -> None:
    candidates = open_for_long({KNOWN: [producer(4), producer(3), producer(2), producer(1)]}, NOW_MS, LIMIT_MS)
    ids = {1: "in-it", 2: "elsewhere", 3: "forgotten"}
    descriptions = {"in-it": described("in-it", 1, KNOWN, OTHER), "elsewhere": described("elsewhere", 2, OTHER)}
    assert [one.producer.producer_id for one in hanging(candidates, ids, descriptions)] == [2, 3, 4]
