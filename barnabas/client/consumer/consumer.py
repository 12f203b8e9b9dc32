"""A consumer for the tools: partitions given by hand or by a group, a fetch loop ahead of the reader, commits, isolation levels.

    async with Client("127.0.0.1:9092") as client, Consumer(client, ConsumerSettings(group_id="g")) as consumer:
        await consumer.subscribe(["orders"])
        for batch in await consumer.poll(timeout_ms=1000):
            for record in batch.records:
                ...

What goes on between two polls (heartbeats, rebalances, fetches ahead) runs in tasks of the same event loop: a listener is
called from there, never from another thread.
"""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.cluster_view import ClusterView
from barnabas.client.consumer.consumer_offsets import (
    API_TIMEOUT_MS,
    EARLIEST,
    LATEST,
    RETRY_BACKOFF_MS,
    AtTime,
    GroupOffsets,
    OffsetSpec,
    list_offsets,
)
from barnabas.client.consumer.consumer_settings import (
    CONSUMER,
    READ_COMMITTED,
    RESET_BY_DURATION,
    RESET_EARLIEST,
    RESET_NONE,
    ConsumerSettings,
)
from barnabas.client.consumer.fetching import FetchedBatch, Fetcher
from barnabas.client.consumer.group_heartbeats import HeartbeatMembership
from barnabas.client.consumer.group_membership import ClassicMembership, Membership, Place
from barnabas.kernel.java.durations import parse_duration_ms
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

__all__ = ["EARLIEST", "LATEST", "STORED", "Consumer", "FetchedBatch", "Listener", "TopicPartition"]

STORED: Final = -1000  # where the group has got to, else where auto.offset.reset says


class Listener(Protocol):
    """Whoever wants to know of rebalances."""

    def partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None: ...

    def partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None: ...


class Consumer:
    """One consumer. Its methods are for one task."""

    def __init__(
        self,
        client: Client,
        settings: ConsumerSettings,
        *,
        listener: Listener | None = None,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.cluster = ClusterView(client)
        self.assignment: frozenset[TopicPartition] = frozenset()
        self.wanted_topics: Sequence[str] = ()
        self._client = client
        self._listener = listener
        self._clock_s = clock_s
        self._fetcher = Fetcher(self.cluster, settings)
        self._offsets = GroupOffsets(client, settings.group_id) if settings.group_id else None
        self._positions: dict[TopicPartition, int] = {}
        self._uncommitted: set[TopicPartition] = set()
        self._membership: Membership | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._pattern: re.Pattern[str] | None = None
        self._next_auto_commit_s = 0.0

    async def __aenter__(self) -> "Consumer":
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    @property
    def partition_counts(self) -> Mapping[str, int]:
        return self.cluster.partition_counts

    @property
    def place(self) -> Place:
        """Member id and epoch in the group; empty for a consumer that takes part in none."""
        return self._membership.place if self._membership else Place(instance_id=self.settings.instance_id)

    def position(self, partition: TopicPartition) -> int | None:
        """The offset that `poll` hands out next; None before it is known."""
        return self._positions.get(partition)

    async def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic; KafkaError when there is none of this name."""
        await self._learn([topic])
        return sorted(self.cluster.topics[topic].leaders)

    async def assign(self, partitions: Mapping[TopicPartition, OffsetSpec]) -> None:
        """Reads these partitions: each from an offset, EARLIEST, LATEST, STORED or a point in time."""
        await self._learn({partition.topic for partition in partitions})
        for gone in self.assignment - partitions.keys():
            self._forget(gone)
        self.assignment = frozenset(partitions)
        await self._begin(partitions)

    async def subscribe(self, topics: Sequence[str] | re.Pattern[str]) -> None:
        """Joins the group for these topics, or for all whose whole name matches a pattern."""
        if self.settings.group_id is None:
            raise ValueError("a consumer without group.id can only be assigned partitions")
        if isinstance(topics, re.Pattern):
            self._pattern = topics
        else:
            self.wanted_topics = list(topics)
        await self._survey()
        if self.settings.group_protocol == CONSUMER:
            self._membership = HeartbeatMembership(self._client, self.settings, self, self.cluster)
        else:
            self._membership = ClassicMembership(self._client, self.settings, self)
        self._next_auto_commit_s = self._clock_s() + self.settings.auto_commit_interval_ms / 1000
        self._tasks = [
            asyncio.create_task(self._membership.run(), name="group membership"),
            asyncio.create_task(self._watch_topics(), name="topics of the subscription"),
        ]

    async def poll(self, timeout_ms: int) -> list[FetchedBatch]:
        """Up to `max_poll_records` records, as soon as there are any; none when the time is over."""
        deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
        await self._auto_commit()
        while True:
            self._fetcher.arrived.clear()
            await self._reset_out_of_range()
            found = self._drain()
            self._check()
            if found:
                self._fetcher.changed()
                return found
            left_s = deadline - asyncio.get_running_loop().time()
            if left_s <= 0:
                return []
            await self._wait(left_s)

    async def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Stores `offsets`, or where polls have got to. KafkaError when the group refuses."""
        if self._offsets is None:
            raise ValueError("a consumer without group.id has nothing to commit to")
        chosen = (
            {partition: self._positions[partition] for partition in self._uncommitted} if offsets is None else offsets
        )
        if chosen:
            await self._offsets.commit(chosen, self.place)
            self._uncommitted -= chosen.keys()

    async def seek(self, partition: TopicPartition, offset: OffsetSpec) -> None:
        """Goes on elsewhere: an offset, EARLIEST, LATEST or STORED."""
        if partition not in self.assignment:
            raise ValueError(f"{partition} is not assigned to this consumer")
        await self._begin({partition: offset})

    async def close(self) -> None:
        """Commits if that is automatic, leaves the group and closes what is open."""
        try:
            if self._membership is not None:
                self._membership.stop()
                membership, watch = self._tasks
                watch.cancel()
                await asyncio.gather(membership, watch, return_exceptions=True)
            elif self.settings.auto_commit and self._offsets is not None and self._uncommitted:
                await self.commit()
        finally:
            await self._fetcher.close()
            if self._offsets is not None:
                await self._offsets.close()
            await self.cluster.close()

    async def give_up(self, partitions: Collection[TopicPartition]) -> None:
        if not partitions:
            return
        if self.settings.auto_commit:
            # When the group has gone on without us, whoever is next reads these records again.
            with suppress(KafkaError):
                await self.commit()
        if self._listener is not None:
            self._listener.partitions_revoked(sorted(partitions))
        self.assignment -= frozenset(partitions)
        for partition in partitions:
            self._forget(partition)

    async def take(self, partitions: Collection[TopicPartition], added: Collection[TopicPartition]) -> None:
        await self._learn({partition.topic for partition in partitions})
        self.assignment = frozenset(partitions)
        if self._listener is not None:
            self._listener.partitions_assigned(sorted(added))
        await self._begin(dict.fromkeys(added, STORED))

    async def _begin(self, partitions: Mapping[TopicPartition, OffsetSpec]) -> None:
        """Finds the offsets to start from, then starts the readers."""
        specs = dict(partitions)
        stored = [partition for partition, spec in specs.items() if spec == STORED]
        if stored:
            committed = await self._offsets.fetch(stored, self.place) if self._offsets is not None else {}
            for partition in stored:
                specs[partition] = committed[partition] if partition in committed else self._reset_spec(partition)
        for partition, offset in (await self._resolve(specs)).items():
            self._positions[partition] = offset
            self._fetcher.start(partition, offset)

    async def _resolve(self, specs: Mapping[TopicPartition, OffsetSpec]) -> dict[TopicPartition, int]:
        """Offsets for EARLIEST, LATEST and points in time."""
        known = {partition: spec for partition, spec in specs.items() if isinstance(spec, int) and spec >= 0}
        asked = {partition: spec for partition, spec in specs.items() if partition not in known}
        committed_only = self.settings.isolation_level == READ_COMMITTED
        answers = await list_offsets(self.cluster, asked, committed_only=committed_only) if asked else {}
        return known | answers

    def _reset_spec(self, partition: TopicPartition) -> OffsetSpec:
        reset = self.settings.reset
        if reset == RESET_NONE:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"Undefined offset with no reset policy for partitions: [{partition}]"
            )
        if reset.startswith(RESET_BY_DURATION):
            moment_ms = int(self._clock_s() * 1000) - parse_duration_ms(reset[len(RESET_BY_DURATION) :])
            return AtTime(moment_ms)
        return EARLIEST if reset == RESET_EARLIEST else LATEST

    async def _reset_out_of_range(self) -> None:
        lost = [
            reader.partition for reader in self._fetcher.readers.values() if reader.out_of_range and not reader.batches
        ]
        if lost:
            await self._begin({partition: self._reset_spec(partition) for partition in lost})

    def _drain(self) -> list[FetchedBatch]:
        found: list[FetchedBatch] = []
        room = self.settings.max_poll_records
        for reader in list(self._fetcher.readers.values()):
            while reader.batches and room > 0:
                batch = reader.batches.popleft()
                if len(batch.records) > room:
                    rest, batch = _split(batch, room)
                    reader.batches.appendleft(rest)
                room -= len(batch.records)
                self._positions[batch.partition] = batch.next_offset
                self._uncommitted.add(batch.partition)
                if batch.records:
                    found.append(batch)
        return found

    def _check(self) -> None:
        """Raises what ended a task in the background."""
        failed = [task.exception() for task in self._tasks if task.done() and not task.cancelled()]
        for failure in [*failed, self._fetcher.failure]:
            if failure is not None:
                raise failure

    async def _wait(self, timeout_s: float) -> None:
        arrived = asyncio.ensure_future(self._fetcher.arrived.wait())
        try:
            await asyncio.wait([arrived, *self._tasks], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            arrived.cancel()

    async def _auto_commit(self) -> None:
        if not self.settings.auto_commit or self._offsets is None or self._clock_s() < self._next_auto_commit_s:
            return
        self._next_auto_commit_s = self._clock_s() + self.settings.auto_commit_interval_ms / 1000
        try:
            await self.commit()
        except KafkaError as error:
            if error.code not in _TRY_LATER and not error.code.retriable:
                raise

    def _forget(self, partition: TopicPartition) -> None:
        self._fetcher.stop(partition)
        self._positions.pop(partition, None)
        self._uncommitted.discard(partition)

    async def _learn(self, topics: Collection[str]) -> None:
        """Knows these topics, or keeps asking while they are being made."""
        missing = [topic for topic in topics if topic not in self.cluster.topics]
        deadline_s = asyncio.get_running_loop().time() + API_TIMEOUT_MS / 1000
        while missing:
            await self.cluster.refresh(missing, create=self.settings.allow_auto_create)
            for topic, code in self.cluster.failures.items():
                late = asyncio.get_running_loop().time() > deadline_s or not self.settings.allow_auto_create
                if topic in missing and (late or code not in _BEING_MADE):
                    raise KafkaError(code, f"topic {topic!r}: {code.message}")
            missing = [topic for topic in missing if topic not in self.cluster.topics]
            if missing:
                await asyncio.sleep(RETRY_BACKOFF_MS / 1000)

    async def _survey(self) -> None:
        """What there is to subscribe to. The leader of a classic group needs to know of everyone's topics."""
        if self._pattern is None and self.wanted_topics:
            await self.cluster.refresh(self.wanted_topics, create=self.settings.allow_auto_create)
        await self.cluster.refresh(None)
        if self._pattern is not None:
            self.wanted_topics = sorted(
                view.name
                for view in self.cluster.topics.values()
                if self._pattern.fullmatch(view.name) and not (view.is_internal and self.settings.exclude_internal)
            )

    async def _watch_topics(self) -> None:
        """Joins again when topics appear, vanish or grow."""
        while True:
            before = {topic: self.partition_counts.get(topic) for topic in self.wanted_topics}
            unknown = None in before.values() or not before
            await asyncio.sleep((RETRY_BACKOFF_MS if unknown else self.settings.metadata_max_age_ms) / 1000)
            try:
                await self._survey()
            except KafkaError as error:
                if not error.code.retriable:
                    raise
            after = {topic: self.partition_counts.get(topic) for topic in self.wanted_topics}
            if after != before and self._membership is not None:
                self._membership.rejoin()


def _split(batch: FetchedBatch, count: int) -> tuple[FetchedBatch, FetchedBatch]:
    """What is left for the next poll, and the first `count` records."""
    rest = replace(batch, records=batch.records[count:])
    return rest, replace(batch, records=batch.records[:count], next_offset=rest.records[0].offset)


_TRY_LATER: Final = frozenset(
    {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}
)
_BEING_MADE: Final = frozenset({ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
