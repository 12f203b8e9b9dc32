"""The way to the broker that leads the topic's only partition, wherever it moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from schema_registry.store.topic import describe

PARTITION: Final = 0


@dataclass(frozen=True, slots=True)
class Lead:
    """Who leads, and the id by which newer brokers want the topic named."""

    address: str
    topic_id: bytes


async def find_lead(client: Client, topic: str) -> Lead:
    found, cluster = await describe(client, topic)
    code = ErrorCode(found.error_code)
    if code:
        raise KafkaError(code, f"topic {topic!r}: {code.message}")
    leaders = [partition.leader_id for partition in found.partitions if partition.partition_index == PARTITION]
    for broker in cluster.brokers:
        if broker.node_id in leaders:
            return Lead(f"{broker.host}:{broker.port}", found.topic_id)
    raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"topic {topic!r} has no leader at the moment")


class LeaderLink:
    """One connection to the leader. A broker answers in turn, so whoever must not wait for others has a link of its own."""

    def __init__(self, client: Client, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._connection: Connection | None = None
        self._lead: Lead | None = None
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[tuple[Connection, Lead]]:
        """A connection to the leader. After any KafkaError the next use looks for the leader anew."""
        try:
            yield await self._opened()
        except KafkaError:
            await self.close()
            raise

    async def _opened(self) -> tuple[Connection, Lead]:
        async with self._opening:
            if self._connection is None or self._lead is None or not self._connection.is_open:
                await self.close()
                self._lead = await find_lead(self._client, self._topic)
                self._connection = await self._client.connect(self._lead.address)
            return self._connection, self._lead

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
