"""Producer ids, taken from the metadata log in blocks. A block is durable before its first id is used, so that none comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from barnabas.wire.records.cluster_metadata import ProducerIdsRecord
from barnabas.wire.struct import Message

if TYPE_CHECKING:
    from core_broker.metadata.store import MetadataStore

BLOCK_IDS: Final = 1000

Apply = Callable[[Sequence[Message]], Awaitable[None]]


class ProducerIds:
    """Hands out each id once. What is left of a block when the broker stops is never used."""

    def __init__(self, store: MetadataStore, apply: Apply) -> None:
        self._store = store
        self._apply = apply
        self._next = 0
        self._end = 0
        self._refill = asyncio.Lock()

    async def next(self) -> int:
        """An id that nobody has; KafkaError if the next block cannot be written."""
        while self._next == self._end:
            async with self._refill:
                if self._next == self._end:
                    await self._take_block()
        taken = self._next
        self._next += 1
        return taken

    async def _take_block(self) -> None:
        async with self._store.exclusive:
            first = self._store.image.next_producer_id
            record = ProducerIdsRecord(
                broker_id=self._store.node.node_id,
                broker_epoch=self._store.broker_epoch,
                next_producer_id=first + BLOCK_IDS,
            )
            await self._apply([record])
        self._next, self._end = first, first + BLOCK_IDS
