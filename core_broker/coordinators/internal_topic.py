"""A topic whose records are a coordinator's state, one shard for each partition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, Generic

from barnabas.kernel.java.string_hash import java_hash
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig
from core_broker.coordinators.shard import LOAD_SLICE_BYTES, Schema, Shard, State
from core_broker.log.checkpoints import TopicPartition
from core_broker.metadata.topic_rules import topic_rules
from core_broker.metadata.topics import TopicCreation
from core_broker.partition import Partition

if TYPE_CHECKING:
    from core_broker.broker import Broker

_INT_MIN: Final = -(1 << 31)


class InternalTopic(Generic[State]):
    """Made when a client first looks for a coordinator; loaded when the broker starts."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        partitions: int,
        configs: Mapping[str, str],
        schema: Schema,
        new_state: Callable[[Shard[State]], State],
        load_slice_bytes: int = LOAD_SLICE_BYTES,
    ) -> None:
        self.name = name
        self._load_slice_bytes = load_slice_bytes
        self._broker = broker
        self._partitions = partitions
        self._configs = configs
        self._schema = schema
        self._new_state = new_state
        self._topic_id = b""
        self._shards: list[Shard[State]] = []
        self._loading: set[asyncio.Task[None]] = set()

    async def ensure(self) -> None:
        """Makes the topic if it is missing; KafkaError when that fails."""
        if self._shards:
            return
        broker = self._broker
        async with broker.metadata.exclusive:
            if self.name not in broker.metadata.image.topics:
                creation = TopicCreation(broker.metadata.image, topic_rules(broker))
                configs = [CreatableTopicConfig(name=name, value=value) for name, value in self._configs.items()]
                created = creation.create(
                    CreatableTopic(
                        name=self.name, num_partitions=self._partitions, replication_factor=1, configs=configs
                    )
                )
                if created.error_code:
                    raise KafkaError(
                        ErrorCode.COORDINATOR_NOT_AVAILABLE, f"cannot create {self.name}: {created.error_message}"
                    )
                await broker.apply(creation.records)

    def partition_of(self, key: str) -> int:
        """Where the records about a group or a transactional id are: Kafka's own rule, since the data outlives us."""
        number = java_hash(key)
        return 0 if number == _INT_MIN else abs(number) % (len(self._shards) or self._partitions)

    def shard_of(self, key: str) -> Shard[State]:
        """Who coordinates a key; KafkaError while that is nobody."""
        if not self._shards:
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{self.name} does not exist yet: FindCoordinator makes it"
            )
        shard = self._shards[self.partition_of(key)]
        if not shard.is_active:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, f"{shard.key} is being loaded; retry")
        return shard

    def shard_at(self, index: int) -> Shard[State] | None:
        return self._shards[index] if 0 <= index < len(self._shards) else None

    @property
    def exists(self) -> bool:
        return bool(self._shards)

    @property
    def is_loading(self) -> bool:
        return any(not shard.is_active for shard in self._shards)

    def active(self) -> Iterator[Shard[State]]:
        return (shard for shard in self._shards if shard.is_active)

    # Following the metadata.

    def follow(self) -> None:
        """Takes up the topic, or lets it go, as the metadata say; called at the start and after every change to topics."""
        image = self._broker.metadata.image.topics.get(self.name)
        if self._shards and (image is None or image.topic_id != self._topic_id):
            self.close()
        if image is None or self._shards:
            return
        self._topic_id = image.topic_id
        self._shards = [self._new_shard(index) for index in range(len(image.partitions))]
        # Only now that all are there: whoever hears that one is active may ask whether others are being loaded.
        empty = [shard for shard in self._shards if not self._broker.has_data(shard.key)]
        for shard in self._shards:
            if shard not in empty:
                task = self._broker.loop.create_task(shard.load())
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
        for shard in empty:
            shard.activate()

    def _new_shard(self, index: int) -> Shard[State]:
        key = TopicPartition(self.name, index)
        opened = partial(self._open, key)
        return Shard(key, opened, self._schema, self._new_state, self._broker.clock_ms, self._load_slice_bytes)

    def _open(self, key: TopicPartition) -> Partition:
        partition = self._broker.partition(*key)
        if partition is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"{self.name} was deleted")
        return partition

    def close(self) -> None:
        """Lets every shard go: the topic was deleted, or the broker stops."""
        for task in self._loading:
            task.cancel()
        shards, self._shards = self._shards, []
        for shard in shards:
            shard.unload()
