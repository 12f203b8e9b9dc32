"""Records on their way out of topics: big batches, bounded by their bytes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Final, Protocol

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as KafkaPartition

from connect.api.pattern import InvalidPattern, compiled
from connect.api.sink import TopicPartition
from connect.errors import ConnectError
from connect.tasks.settings import SinkSettings

logger = logging.getLogger(__name__)

BATCH_BYTES: Final = 8 * 1024 * 1024
"""What a batch should come to; the next one is sized by the last."""
BATCH_RECORDS_MAX: Final = 10_000
BATCH_RECORDS_FIRST: Final = 500
GROWTH: Final = 4
IDLE_S: Final = 0.25
"""How long an empty topic is waited for before the requests of the worker are checked."""
LINGER_S: Final = 0.02
"""How long a batch waits for more records after its first."""
RESCAN_S: Final = 10.0
"""How soon a new topic is found that a pattern matches."""
METADATA_TIMEOUT_S: Final = 10.0
COMMITTED_TIMEOUT_S: Final = 1.0

STRATEGY: Final = "partition.assignment.strategy"
CONSUMER_DEFAULTS: Final[Mapping[str, Any]] = {
    "auto.offset.reset": "earliest",
    STRATEGY: "cooperative-sticky",
    # By default librdkafka looks once a second whether there is room for more, and a quick sink waits for it.
    "fetch.queue.backoff.ms": 2,
    "queued.max.messages.kbytes": 8 * 1024,
    # A task that was killed is missed as soon as a worker is; its partitions wait until then. librdkafka's 45 s are meant for consumers
    # far away, and heartbeats do not depend on what the sink does.
    "session.timeout.ms": 10_000,
    # A topic that is created later is found soon.
    "topic.metadata.refresh.interval.ms": 10_000,
}
OWN: Final[Mapping[str, Any]] = {
    # Offsets are committed when the sink has flushed, and not before.
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    # The end of a partition may lie behind its last record: the marks of transactions are none.
    "enable.partition.eof": True,
}

_AT_END: Final = ("latest", "largest", "end")
_HOPELESS: Final = frozenset(
    {
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.INCONSISTENT_GROUP_PROTOCOL,
        KafkaError.INVALID_GROUP_ID,
    }
)


class PartitionOwner(Protocol):
    """Who is told about partitions and commits, from within `read`, `keep_alive` and `close`."""

    def assign(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Partitions come: the offsets to read from, for those that Kafka's group need not be asked about."""

    def revoke(self, partitions: Sequence[TopicPartition]) -> None:
        """Partitions go to somebody else when this returns."""

    def give_up_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """Partitions have gone to somebody else already."""

    def note_commit(self, is_done: bool) -> None:
        """A commit has ended."""


class RecordConsumer:
    """The consumer of a sink's task, a member of its group."""

    def __init__(
        self, settings: Mapping[str, Any], subscription: SinkSettings, batch_records_max: int, owner: PartitionOwner
    ) -> None:
        made = {**settings, **OWN, "on_commit": self._note_commit}
        if made.get("group.protocol") == "consumer":
            # The broker assigns, and then librdkafka refuses to hear of a strategy.
            made[STRATEGY] = None
        self._is_incremental = made[STRATEGY] is None or "cooperative" in made[STRATEGY]
        self._subscription = _Subscription(subscription)
        self._owner = owner
        self._records_max = batch_records_max
        self._records = min(BATCH_RECORDS_FIRST, batch_records_max)
        self._is_busy = False
        self._is_paused = False
        self._failure: BaseException | None = None
        self._starts: dict[TopicPartition, int] = {}
        self.ends: dict[TopicPartition, int] = {}
        """Of the partitions that the last read has come to the end of: where that is."""
        self._starts_at_end = made["auto.offset.reset"] in _AT_END
        self._consumer = Consumer({name: value for name, value in made.items() if value is not None})

    def read(self) -> list[Message]:
        """The next batch; empty after a while when there is none."""
        self._subscription.renew(self._consumer, self._assigned, self._revoked, self._lost)
        self.ends.clear()
        messages: list[Message] = []
        if not self._is_busy:
            messages = self._consumer.consume(1, IDLE_S)
        if messages or self._is_busy:
            messages += self._consumer.consume(self._records, LINGER_S)
        self._raise_failure()
        self._is_busy = len(messages) >= self._records
        if messages:
            self._size_next(messages)
        return self._records_of(messages)

    def keep_alive(self, seconds: float) -> None:
        """Stay a member of the group while nothing is read."""
        self._consumer.consume(1, seconds)
        self._raise_failure()

    def pause(self) -> None:
        """No records come until `resume`; what was fetched already is fetched again."""
        self._is_paused = True
        self._consumer.pause(self._consumer.assignment())

    def resume(self) -> None:
        self._is_paused = False
        self._consumer.resume(self._consumer.assignment())

    def commit(self, positions: Mapping[TopicPartition, int], *, waits: bool) -> None:
        """Commit the offsets to go on from. The owner is told how it went."""
        offsets = [KafkaPartition(topic, partition, offset) for (topic, partition), offset in positions.items()]
        if not offsets:
            return
        if not waits:
            self._consumer.commit(offsets=offsets, asynchronous=True)
            return
        try:
            results = self._consumer.commit(offsets=offsets, asynchronous=False)
            error = next((result.error for result in results if result.error is not None), None)
        except KafkaException as problem:
            error = problem.args[0]
        self._note_commit(error, offsets)

    def lag(self, partitions: Iterable[TopicPartition], positions: Mapping[TopicPartition, int]) -> int | None:
        """How many records partitions hold that were not written yet, as far as the last fetches told; None: nothing was told yet."""
        total = 0
        try:
            for place in partitions:
                low, high = self._consumer.get_watermark_offsets(KafkaPartition(*place), cached=True)
                if high < 0:
                    return None
                position = positions.get(place)
                if position is None:
                    position = self._start_of(place, high)
                total += max(high - max(position, low), 0)
        except KafkaException:
            return None
        return total

    def _start_of(self, place: TopicPartition, end: int) -> int:
        """Where a partition of which no record has come yet is read from. The group is asked once."""
        if place not in self._starts:
            (found,) = self._consumer.committed([KafkaPartition(*place)], timeout=COMMITTED_TIMEOUT_S)
            if found.error is not None:
                raise KafkaException(found.error)
            self._starts[place] = end if found.offset < 0 and self._starts_at_end else found.offset
        return self._starts[place]

    def close(self) -> None:
        """Leave the group; what is still assigned is revoked first."""
        self._consumer.close()
        self._raise_failure()

    def _records_of(self, messages: list[Message]) -> list[Message]:
        """The messages without those that tell something else."""
        if not any(map(Message.error, messages)):
            return messages
        for message in messages:
            error = message.error()
            if error is None:
                continue
            if error.code() == KafkaError._PARTITION_EOF:
                self.ends[_place(message)] = message.offset() or 0
            elif error.fatal() or error.code() in _HOPELESS:
                raise ConnectError(f"the topic {message.topic()} cannot be read: {error.str()}") from KafkaException(
                    error
                )
            else:
                logger.warning("%s: %s", message.topic(), error.str())
        return [message for message in messages if message.error() is None]

    def _size_next(self, messages: Sequence[Message]) -> None:
        mean_bytes = max(sum(map(len, messages)) / len(messages), 1)
        wanted = min(int(BATCH_BYTES / mean_bytes), self._records * GROWTH, self._records_max, BATCH_RECORDS_MAX)
        self._records = max(wanted, 1)

    def _assigned(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        try:
            positions = self._owner.assign(_plain(partitions))
        except BaseException as error:  # noqa: BLE001 - it would pass through librdkafka; it comes out when that returns
            self._failure = error
            return
        for each in partitions:
            self._starts.pop(TopicPartition(each.topic, each.partition), None)
            each.offset = positions.get(TopicPartition(each.topic, each.partition), each.offset)
        self._starts |= positions
        (consumer.incremental_assign if self._is_incremental else consumer.assign)(partitions)
        if self._is_paused:
            consumer.pause(partitions)

    def _revoked(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        self._guarded(self._owner.revoke, partitions)

    def _lost(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        self._guarded(self._owner.give_up_lost, partitions)

    def _guarded(
        self, callback: Callable[[Sequence[TopicPartition]], None], partitions: Sequence[KafkaPartition]
    ) -> None:
        for each in partitions:
            self.ends.pop(TopicPartition(each.topic, each.partition), None)
        try:
            callback(_plain(partitions))
        except BaseException as error:  # noqa: BLE001 - it would pass through librdkafka; it comes out when that returns
            self._failure = error

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _note_commit(self, error: KafkaError | None, partitions: Sequence[KafkaPartition]) -> None:
        if error is not None:
            logger.warning("the offsets of %d partitions are committed later: %s", len(partitions), error.str())
        self._owner.note_commit(error is None)


class _Subscription:
    """Fixed topics, or those that match a pattern, which are looked for again from time to time."""

    def __init__(self, settings: SinkSettings) -> None:
        self._pattern = None
        self._topics: frozenset[str] = frozenset()
        self._wanted = frozenset(settings.topics)
        self._next_scan_at = 0.0
        if settings.topics_regex:
            try:
                self._pattern = compiled(settings.topics_regex)
            except InvalidPattern as problem:
                raise ConnectError(
                    f"topics.regex={settings.topics_regex} is no regular expression: {problem}"
                ) from problem

    def renew(self, consumer: Consumer, on_assign: Any, on_revoke: Any, on_lost: Any) -> None:
        if self._pattern is not None and monotonic() >= self._next_scan_at:
            self._next_scan_at = monotonic() + RESCAN_S
            self._wanted = self._matching(consumer)
        if self._wanted != self._topics:
            self._topics = self._wanted
            consumer.subscribe(sorted(self._wanted), on_assign=on_assign, on_revoke=on_revoke, on_lost=on_lost)

    def _matching(self, consumer: Consumer) -> frozenset[str]:
        assert self._pattern is not None
        try:
            names = consumer.list_topics(timeout=METADATA_TIMEOUT_S).topics
        except KafkaException as problem:
            logger.warning("topics cannot be listed, so topics.regex finds no new ones: %s", problem.args[0].str())
            return self._topics
        return frozenset(name for name in names if self._pattern.fullmatch(name))


def _plain(partitions: Sequence[KafkaPartition]) -> list[TopicPartition]:
    return [TopicPartition(each.topic, each.partition) for each in partitions]


def _place(message: Message) -> TopicPartition:
    topic, partition = message.topic(), message.partition()
    assert topic is not None, "a message of a partition has a topic"
    assert partition is not None, "and a number"
    return TopicPartition(topic, partition)
