"""Where logs end, as far as that can be told at once: groups have offsets in topics that are gone."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.cli.log_place import LATEST
from barnabas.client.admin.listed_offsets import Offset, Partition, list_offsets
from barnabas.client.admin.session import Session


async def log_ends(session: Session, places: Iterable[Partition]) -> dict[Partition, int]:
    """The offset behind the last record of each partition that has a leader now. Nobody waits for the others, as programs do whose topic
    may be just being made."""
    led: list[Partition] = [
        place for place, leader in (await session.leaders_now(places)).items() if isinstance(leader, int)
    ]
    answers = await list_offsets(session, dict.fromkeys(led, LATEST)) if led else {}
    return {place: answer.offset for place, answer in answers.items() if isinstance(answer, Offset)}
