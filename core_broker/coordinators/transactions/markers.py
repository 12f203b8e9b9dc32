"""Telling partitions that a transaction has ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from barnabas.wire.batch import parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.groups.coordinator import OFFSETS_TOPIC
from core_broker.coordinators.record import TransactionalWriter
from core_broker.coordinators.shard import Then
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.marker import build_marker
from core_broker.log.producer_state import Marker, Origin
from core_broker.partition import Append, Partition

if TYPE_CHECKING:
    from core_broker.broker import Broker

_GONE: Final = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the partition does not exist")


class EndMarker(NamedTuple):
    """What all partitions of a transaction are told."""

    producer_id: int
    producer_epoch: int
    marker: Marker

    @property
    def writer(self) -> TransactionalWriter:
        return TransactionalWriter(self.producer_id, self.producer_epoch)

    def at_least(self, coordinator_epoch: int) -> EndMarker:
        """There is one coordinator: an epoch that a partition knows from before is no reason to refuse it."""
        if coordinator_epoch <= self.marker.coordinator_epoch:
            return self
        return self._replace(marker=self.marker._replace(coordinator_epoch=coordinator_epoch))


class Markers:
    """Appends markers to data partitions, and to those of the offsets topic by way of their group coordinator."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def find(self, key: TopicPartition) -> Partition | None:
        """The partition, if it can take a marker now; KafkaError if that is to be tried later, None if it is gone."""
        if key.topic != OFFSETS_TOPIC:
            return self._broker.partition(*key)
        shard = self._broker.groups.topic.shard_at(key.partition)
        if shard is None:
            return None
        if not shard.is_active:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{key} is being loaded; retry")
        return shard.partition

    def write(self, key: TopicPartition, end: EndMarker, then: Then) -> None:
        """Appends a marker; `then` hears when it is durable, or why not."""
        try:
            found = self.find(key)
        except KafkaError as error:
            then(error)
            return
        if found is None:
            then(_GONE)
        elif key.topic == OFFSETS_TOPIC:
            shard = self._broker.groups.topic.shard_at(key.partition)
            assert shard is not None
            shard.write_marker(end.writer, end.marker, then)
        else:
            self.append(found, end, then)

    def append(self, partition: Partition, end: EndMarker, then: Then) -> None:
        """The same for a partition with records of clients."""
        now_ms = self._broker.clock_ms()
        view = memoryview(build_marker(end.producer_id, end.producer_epoch, end.marker, now_ms))
        append = Append(_Told(then), 0, view, parse_header(view), now_ms, durable=True, origin=Origin.COORDINATOR)
        partition.append(append)
        if append.finished:
            then(append.error)
        else:
            append.waiting = True


class _Told:
    """What stands for a client's request in the partition's queue."""

    __slots__ = ("_then",)

    def __init__(self, then: Then) -> None:
        self._then = then

    def published(self, append: Append) -> None:
        """Only what is durable counts here."""

    def finished(self, append: Append) -> None:
        self._then(append.error)


class Ending:
    """Brings a prepared transaction to its end: a marker in each partition, again and again until it is there."""

    RETRY_AFTER_MS: Final = 100
    RETRY_AFTER_MAX_MS: Final = 5_000

    def __init__(
        self,
        markers: Markers,
        end: EndMarker,
        partitions: frozenset[TopicPartition],
        *,
        epoch_is_new: bool,
        later: Callable[[int, Callable[[], None]], object],
        delayed: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self._markers = markers
        self._end = end
        self._left = set(partitions)
        self._epoch_is_new = epoch_is_new
        self._later = later
        self._delayed = delayed
        self._done = done
        self._standing: set[TopicPartition] = set()

    def start(self) -> None:
        if not self._left:
            self._done()
        for key in sorted(self._left):
            self._tell(key, self.RETRY_AFTER_MS)

    def _tell(self, key: TopicPartition, retry_after_ms: int) -> None:
        then = partial(self._told, key, retry_after_ms)
        try:
            partition = self._markers.find(key)
        except KafkaError as error:
            then(error)
            return
        if partition is None:
            then(_GONE)
            return
        producer = partition.log.producers.by_id.get(self._end.producer_id)
        if producer is not None and self._epoch_is_new and producer.epoch >= self._end.producer_epoch:
            self._standing.add(key)  # from before a restart
        if key in self._standing:
            partition.when_committed(then)
            return
        end = self._end if producer is None else self._end.at_least(producer.coordinator_epoch)
        before = partition.log.log_end_offset
        self._markers.write(key, end, then)
        if partition.log.log_end_offset > before:
            self._standing.add(key)

    def _told(self, key: TopicPartition, retry_after_ms: int, error: KafkaError | None) -> None:
        # A partition that is gone needs no marker; neither does one in which a newer epoch has ended this transaction.
        ended = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_PRODUCER_EPOCH)
        if error is not None and error.code not in ended:
            self._delayed()
            again_ms = min(2 * retry_after_ms, self.RETRY_AFTER_MAX_MS)
            self._later(retry_after_ms, lambda: self._tell(key, again_ms))
            return
        self._left.discard(key)
        if not self._left:
            self._done()
