"""Which partitions are being moved to other brokers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)


@dataclass(frozen=True, slots=True)
class Reassignment:
    """One move: all replicas, those that are new and those that will go."""

    replicas: list[int]
    adding: list[int]
    removing: list[int]


async def ongoing(
    session: Session, partitions: Iterable[tuple[str, int]] | None = None
) -> dict[tuple[str, int], Reassignment]:
    """The moves of `partitions`, or all there are."""
    topics: list[ListPartitionReassignmentsTopics] | None = None
    if partitions is not None:
        indexes: dict[str, list[int]] = {}
        for topic, index in partitions:
            indexes.setdefault(topic, []).append(index)
        topics = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=found) for name, found in indexes.items()
        ]
    request = ListPartitionReassignmentsRequest(timeout_ms=session.config.request_timeout_ms, topics=topics)
    answer = await session.send_to_controller(
        request, ListPartitionReassignmentsResponse, check=lambda found: found.error_code
    )
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    return {
        (topic.name, part.partition_index): Reassignment(part.replicas, part.adding_replicas, part.removing_replicas)
        for topic in answer.topics
        for part in topic.partitions
    }
