"""What a consumer knows of the cluster: topics, leaders, and one connection to each broker that it reads from."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

NO_LEADER: Final = -1
NO_TOPIC_ID: Final = bytes(16)


@dataclass(frozen=True, slots=True)
class TopicView:
    """One topic: its id and the leader of each partition."""

    name: str
    topic_id: bytes
    is_internal: bool
    leaders: Mapping[int, int]


class ClusterView:
    """Metadata as of the last `refresh`, and connections that are opened when they are first needed."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.topics: dict[str, TopicView] = {}
        self.failures: dict[str, ErrorCode] = {}
        self._addresses: dict[int, str] = {}
        self._connections: dict[int, Connection] = {}
        self._connecting = asyncio.Lock()

    async def close(self) -> None:
        for connection in self._connections.values():
            await connection.close()
        self._connections.clear()

    async def refresh(self, topics: Collection[str] | None, *, create: bool = False) -> None:
        """Asks about `topics`, or about all with None. What could not be told stands in `failures`."""
        wanted = None if topics is None else [MetadataRequestTopic(name=topic) for topic in topics]
        answer = await self.client.send(
            MetadataRequest(topics=wanted, allow_auto_topic_creation=create), MetadataResponse
        )
        self._addresses = {broker.node_id: f"{broker.host}:{broker.port}" for broker in answer.brokers}
        if topics is None:
            self.topics.clear()
            self.failures.clear()
        for topic in answer.topics:
            name = topic.name or ""
            self.topics.pop(name, None)
            self.failures.pop(name, None)
            if topic.error_code:
                self.failures[name] = ErrorCode(topic.error_code)
            else:
                leaders = {entry.partition_index: entry.leader_id for entry in topic.partitions}
                self.topics[name] = TopicView(name, topic.topic_id, topic.is_internal, leaders)

    @property
    def partition_counts(self) -> Mapping[str, int]:
        return {name: len(view.leaders) for name, view in self.topics.items()}

    def leader(self, partition: TopicPartition) -> int:
        """The id of the broker that leads `partition`; NO_LEADER when there is none or it is not known."""
        view = self.topics.get(partition.topic)
        return NO_LEADER if view is None else view.leaders.get(partition.partition, NO_LEADER)

    def topic_id(self, topic: str) -> bytes:
        view = self.topics.get(topic)
        return NO_TOPIC_ID if view is None else view.topic_id

    async def topic_name(self, topic_id: bytes) -> str | None:
        for attempt in range(2):
            if attempt:
                await self.refresh(None)
            for view in self.topics.values():
                if view.topic_id == topic_id:
                    return view.name
        return None

    async def connection(self, node: int) -> Connection:
        """The connection to a broker; KafkaError when it is not known or cannot be reached."""
        async with self._connecting:
            existing = self._connections.get(node)
            if existing is not None and existing.is_open:
                return existing
            if node not in self._addresses:
                raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"the metadata does not name broker {node}")
            self._connections[node] = opened = await self.client.connect(self._addresses[node])
            return opened
