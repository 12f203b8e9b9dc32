"""Finds transactions that are open in a partition's log while no coordinator knows of them, so that nobody will end them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.transaction_admin import NONE, ActiveProducer, DescribedTransaction
from barnabas.client.consumer.assignors import TopicPartition

MS_PER_MINUTE: Final = 60_000


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    partition: TopicPartition
    producer: ActiveProducer

    def age_minutes(self, now_ms: int) -> int:
        return int((now_ms - self.producer.last_timestamp_ms) / MS_PER_MINUTE)


def open_for_long(
    producers: Mapping[TopicPartition, Sequence[ActiveProducer]], now_ms: int, limit_ms: int
) -> list[OpenTransaction]:
    """Transactions whose last record is older than any transaction may get."""
    return [
        OpenTransaction(partition, producer)
        for partition, known in producers.items()
        for producer in known
        if producer.start_offset != NONE and now_ms - producer.last_timestamp_ms > limit_ms
    ]


def hanging(
    candidates: Collection[OpenTransaction],
    transactional_ids: Mapping[int, str],
    descriptions: Mapping[str, DescribedTransaction],
) -> list[OpenTransaction]:
    """Those of `candidates` whose producer has no transaction, or one that their partition is no part of."""
    found = []
    for one in sorted(candidates, key=lambda candidate: candidate.producer.producer_id):
        transactional_id = transactional_ids.get(one.producer.producer_id)
        description = None if transactional_id is None else descriptions.get(transactional_id)
        if description is None or one.partition not in description.partitions:
            found.append(one)
    return found
