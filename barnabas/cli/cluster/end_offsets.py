"""The end offsets of partitions that have a leader: groups have offsets in topics that are deleted."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.cli.cluster.offsets import LATEST
from barnabas.client.admin.listed_offsets import Offset, Partition, list_offsets
from barnabas.client.admin.session import Session


async def end_offsets(session: Session, partitions: Iterable[Partition]) -> dict[Partition, int]:
    """Return the end offset of each partition that has a leader now. The others are not waited for, as programs do whose topic may be
    just being created."""
    led: list[Partition] = [
        partition for partition, leader in (await session.leaders_now(partitions)).items() if isinstance(leader, int)
    ]
    answers = await list_offsets(session, dict.fromkeys(led, LATEST)) if led else {}
    return {partition: answer.offset for partition, answer in answers.items() if isinstance(answer, Offset)}
