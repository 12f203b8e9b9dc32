"""The side of a consumer instance that talks to Kafka. Its methods block, so they are called on threads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.v2.consuming.backlog import Backlog
from rest_proxy.v2.consuming.consumption import Consumption, Source
from rest_proxy.v2.consuming.partition import Commit, FetchedRecord, Partition
from rest_proxy.v2.consuming.refusals import (
    instance_not_found,
    invalid_setting,
    not_subscribed,
    partition_not_found,
    topic_not_found,
)
from rest_proxy.v2.consuming.topic_pattern import TopicPattern

REQUEST_TIMEOUT_S: Final = 10.0
"""For questions to the brokers that are not part of a read."""
REACHABLE_TIMEOUT_S: Final = 1.0
BATCH_RECORDS: Final = 500
SEEK_RETRY_S: Final = 0.01
PATTERN_REFRESH_S: Final = 30.0
PATTERN_RETRY_S: Final = 1.0
"""How soon topics are looked for again as long as none matches."""
SERVED_BACKLOG_MAX_BYTES: Final = 1024 * 1024

logger = logging.getLogger(__name__)


class Member:
    """A consumer of librdkafka, made when it is first needed. One thread at a time has its turn."""

    def __init__(self, settings: Callable[[], Mapping[str, Any]]) -> None:
        self.backlog = Backlog()
        self._settings = settings
        self._turn = threading.Lock()
        self._consumer: Consumer | None = None
        self._consumption = Consumption()
        self._failure: KafkaFailure | None = None
        self._unreachable = False
        self._closed = False

    @property
    def is_live(self) -> bool:
        """Whether there is anything to attend to while no client asks."""
        return self._consumer is not None

    @property
    def is_settled(self) -> bool:
        return self._consumption.settled

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_unreachable(self) -> bool:
        """Whether librdkafka has said that no broker answers, and has fetched nothing since."""
        return self._unreachable

    @property
    def topics(self) -> list[str]:
        return self._consumption.topics

    @property
    def assigned(self) -> list[Partition]:
        return sorted(self._consumption.assigned)

    def subscribe(self, topics: Sequence[str]) -> None:
        if not topics:
            self.unsubscribe()
            return
        with self._turn:
            self._consumption.check_free(Source.TOPICS)
            self._join(list(dict.fromkeys(topics)))
            self._consumption.source = Source.TOPICS

    def subscribe_to_pattern(self, pattern: TopicPattern) -> None:
        with self._turn:
            self._consumption.check_free(Source.PATTERN)
            self._match(pattern)
            self._consumption.source = Source.PATTERN
            self._consumption.pattern = pattern

    def unsubscribe(self) -> None:
        """Leaves the group at once, and gives back what a consumer costs until there is need of one again."""
        with self._turn:
            self._leave()
            self._consumption = Consumption()

    def assign(self, partitions: Sequence[Partition]) -> None:
        """Consume just these, outside of the group's rule. Partitions that it had already go on where they were.

        librdkafka is told with the next fetch: by then the client may have said where to begin, and the group need not be asked.
        """
        if not partitions:
            self.unsubscribe()
            return
        with self._turn:
            self._consumption.check_free(Source.PARTITIONS)
            consumer = self._open()
            _check_exist(consumer, partitions)
            kept = {partition: at for partition, at in self.backlog.positions().items() if partition in partitions}
            self.backlog.restart(kept)
            self._consumption.replace(partitions)

    def seek(self, targets: Mapping[Partition, int]) -> None:
        with self._turn:
            self._seek(targets)

    def seek_to_beginning(self, partitions: Sequence[Partition]) -> None:
        self.seek(dict.fromkeys(partitions, OFFSET_BEGINNING))

    def seek_to_end(self, partitions: Sequence[Partition]) -> None:
        """The end as it is now: what is written from here on will be read."""
        with self._turn:
            self._consumption.check_assigned(partitions)
            self._seek({partition: self._end(partition) for partition in partitions})

    def seek_to_times(self, moments_ms: Mapping[Partition, int]) -> None:
        """To the first record that is not older; to the end when all are."""
        with self._turn:
            self._consumption.check_assigned(moments_ms)
            wanted = [_place(partition, moment_ms) for partition, moment_ms in moments_ms.items()]
            found = self._open().offsets_for_times(wanted, REQUEST_TIMEOUT_S)
            offsets = {_partition(place): _checked(place).offset for place in found}
            self._seek({partition: at if at >= 0 else self._end(partition) for partition, at in offsets.items()})

    def fetch(self, wait_s: float, max_bytes: int) -> None:
        """Wait for a record, and take all that have come, into the backlog. Raises what has gone wrong meanwhile.

        What clients were given before counts as consumed now that they come for more.
        """
        with self._turn:
            consumption = self._consumption
            if consumption.source is Source.NONE and not self._closed:
                raise not_subscribed()
            consumer = self._open()
            self._store(consumer)
            if consumption.pattern is not None and time.monotonic() >= consumption.match_again_s:
                self._match(consumption.pattern)
            self._apply_seeks(consumer)
            self._take(consumer.consume(1, min(wait_s, SEEK_RETRY_S) if consumption.seeks else wait_s))
            while self.backlog.takes(max_bytes):
                batch = consumer.consume(BATCH_RECORDS, 0)
                self._take(batch)
                if len(batch) < BATCH_RECORDS:
                    break
            self._raise_failure()

    def serve(self) -> None:
        """Attend to the group while no client reads, so that other members need not wait for this one."""
        if self.backlog.size_bytes > SERVED_BACKLOG_MAX_BYTES or not self._turn.acquire(blocking=False):
            return
        try:
            if self._consumer is not None:
                message = self._consumer.poll(0)
                if message is not None:
                    self._take([message])
        finally:
            self._turn.release()

    def check_reachable(self) -> None:
        """Raises if no broker answers."""
        with self._turn:
            self._check_reachable(self._open())

    def commit(self, commits: Sequence[Commit] | None, *, asynchronous: bool) -> None:
        """Commit these; without any, all that clients were given."""
        with self._turn:
            places = self._given() if commits is None else [_commit_place(commit) for commit in commits]
            if not places:
                return
            consumer = self._open()
            if asynchronous:
                consumer.commit(offsets=places, asynchronous=True)
            else:
                self._check_reachable(consumer)
                for place in consumer.commit(offsets=places, asynchronous=False):
                    _checked(place)

    def committed(self, partitions: Sequence[Partition]) -> list[Commit]:
        """The group's offsets in those partitions that have one."""
        with self._turn:
            found = self._open().committed([TopicPartition(*partition) for partition in partitions], REQUEST_TIMEOUT_S)
        return [
            Commit(_partition(place), place.offset, place.metadata) for place in found if _checked(place).offset >= 0
        ]

    def close(self, *, answered: bool) -> None:
        """Leave the group at once. `answered`: whether the client is known to have had its last answer."""
        self._closed = True
        with self._turn:
            if not answered:
                self.backlog.restart({})
            self._leave()

    def _open(self) -> Consumer:
        if self._closed:
            raise instance_not_found()
        if self._consumer is None:
            try:
                self._consumer = Consumer({**self._settings(), "error_cb": self._on_error}, logger=logger)
            except KafkaException as problem:
                raise invalid_setting(KafkaFailure.of_exception(problem).message) from None
        return self._consumer

    def _leave(self) -> None:
        consumer, self._consumer = self._consumer, None
        # When no broker answers there is none to be told, and librdkafka would wait for one as long as a session lasts. It is enough
        # then to let the consumer go: librdkafka ends it without a word to the group.
        if consumer is not None and not self._unreachable:
            self._store(consumer)
            consumer.close()
        self.backlog.restart({})

    def _join(self, topics: list[str]) -> None:
        if set(topics) != set(self._consumption.topics):
            self._open().subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)
            self._consumption.join(topics)

    def _match(self, pattern: TopicPattern) -> None:
        topics = pattern.matches(self._open().list_topics(timeout=REQUEST_TIMEOUT_S).topics)
        self._consumption.match_again_s = time.monotonic() + (PATTERN_REFRESH_S if topics else PATTERN_RETRY_S)
        if topics:
            self._join(topics)

    def _seek(self, targets: Mapping[Partition, int]) -> None:
        """Takes effect with the next fetch: librdkafka does not seek in partitions that it does not fetch yet."""
        self._consumption.check_assigned(targets)
        self.backlog.drop(targets)
        for partition, offset in targets.items():
            self._consumption.seeks[partition] = offset
            if offset >= 0:
                self.backlog.move(partition, offset)

    def _check_reachable(self, consumer: Consumer) -> None:
        """Without it librdkafka would wait for a coordinator as long as a session lasts."""
        if self._unreachable:
            consumer.list_topics("", REACHABLE_TIMEOUT_S)
            self._unreachable = False

    def _end(self, partition: Partition) -> int:
        _, end = self._open().get_watermark_offsets(TopicPartition(*partition), REQUEST_TIMEOUT_S)
        return end

    def _apply_seeks(self, consumer: Consumer) -> None:
        if self._consumption.untold or self._consumption.stopped.keys() & self._consumption.seeks.keys():
            self._start_anew(consumer)
        for partition, offset in list(self._consumption.seeks.items()):
            try:
                consumer.seek(_place(partition, offset))
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError._STATE:
                    raise
            else:
                del self._consumption.seeks[partition]

    def _start_anew(self, consumer: Consumer) -> None:
        """Assign the partitions, with the places where the client wants to be. It must be done with all of them at once; librdkafka then takes
        up a partition again that has stopped."""
        positions = self.backlog.positions()
        consumption = self._consumption
        targets = {**positions, **consumption.seeks}
        consumer.assign(
            [_place(partition, targets.get(partition, OFFSET_INVALID)) for partition in consumption.assigned]
        )
        self.backlog.restart(positions)
        consumption.seeks.clear()
        consumption.stopped.clear()
        consumption.untold = False

    def _take(self, messages: Sequence[Message]) -> None:
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(FetchedRecord.of(message))
            else:
                self._take_error(error, Partition(message.topic() or "", message.partition() or 0))
        if records:
            self._unreachable = False
            self.backlog.add([record for record in records if self._consumption.wants(record.partition)])

    def _take_error(self, error: KafkaError, place: Partition) -> None:
        if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            # It may come to be, and is consumed then.
            self._consumption.miss(place.topic)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            reason = f"{error.str()}; partition {place} is read again when you move to an offset that it has"
            self._consumption.stopped[place] = KafkaFailure(error.code(), error.name(), reason, retriable=False)
        elif error.code() != KafkaError._MAX_POLL_EXCEEDED and not error.retriable():
            self._failure = KafkaFailure.of(error)

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure or self._consumption.standstill(), None
        if failure is not None:
            raise failure

    def _given(self) -> list[TopicPartition]:
        assigned = self._consumption.assigned
        return [_place(partition, at) for partition, at in self.backlog.positions().items() if partition in assigned]

    def _store(self, consumer: Consumer) -> None:
        """Let librdkafka commit, if it commits by itself, what clients were given."""
        given = self._given()
        if given:
            try:
                consumer.store_offsets(offsets=given)
            except KafkaException as problem:
                logger.debug("offsets are not kept: %s", problem)

    def _on_error(self, error: KafkaError) -> None:
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._unreachable = True

    def _on_assign(self, _consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        self._consumption.gain([_partition(place) for place in places])

    def _on_revoke(self, consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        self._store(consumer)
        self._on_lost(consumer, places)

    def _on_lost(self, _consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        lost = {_partition(place) for place in places}
        self._consumption.lose(lost)
        self.backlog.drop(lost)


def _check_exist(consumer: Consumer, partitions: Sequence[Partition]) -> None:
    names = {partition.topic for partition in partitions}
    only = next(iter(names)) if len(names) == 1 else ""
    topics = consumer.list_topics(only, REQUEST_TIMEOUT_S).topics
    for partition in partitions:
        topic = topics.get(partition.topic)
        if topic is None or topic.error is not None:
            raise topic_not_found()
        if partition.number not in topic.partitions:
            raise partition_not_found()


def _partition(place: TopicPartition) -> Partition:
    return Partition(place.topic, place.partition)


def _place(partition: Partition, offset: int) -> TopicPartition:
    return TopicPartition(partition.topic, partition.number, offset)


def _commit_place(commit: Commit) -> TopicPartition:
    topic, number = commit.partition
    if commit.metadata is None:
        return TopicPartition(topic, number, commit.offset)
    return TopicPartition(topic, number, commit.offset, commit.metadata)


def _checked(place: TopicPartition) -> TopicPartition:
    if place.error is not None:
        raise KafkaFailure.of(place.error)
    return place
