"""Follows the topic of a table: a thread with a consumer of its own, which puts what it reads into the store in batches."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition

from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.topic_records import consumer_settings, record_reader, records_of
from streams_sql.plan.records import Problem
from streams_sql.views.progress import Progress
from streams_sql.views.store import Store, is_corrupt
from streams_sql.views.topic_watch import TopicState, TopicWatch

POLL_S: Final = 0.25
"""The longest wait for a record; when one comes the poll returns at once. So long may stopping take."""
BETWEEN_STEPS_S: Final = 0.01
"""The same while indexes are built: so long the disk is left to others."""
BATCH_RECORDS_MAX: Final = 5_000
"""Records of one transaction."""
ANSWER_S: Final = 10.0
TOPIC_WAIT_S: Final = 0.5
RETRY_S_MIN: Final = 0.5
RETRY_S_MAX: Final = 30.0
ERROR_INTERVAL_S: Final = 30.0
"""How often the log tells of an error that lasts."""

_logger = logging.getLogger(__name__)


class Tailer:
    def __init__(
        self,
        store: Store,
        progress: Progress,
        watch: TopicWatch,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
    ) -> None:
        self._store = store
        self._source = store.layout.source
        self._progress = progress
        self._watch = watch
        self._settings = {**consumer_settings(settings, self._source.topic), "error_cb": self._tell}
        self._registry = registry
        self._is_stopped = threading.Event()
        self._is_damaged = False
        self._failed_s = -ERROR_INTERVAL_S
        self._error_told_s = -ERROR_INTERVAL_S
        self._thread = threading.Thread(target=self._run, name=f"view {self._source.name}", daemon=True)

    def start(self) -> None:
        self._watch.add(self._source.topic)
        self._thread.start()

    def stop(self) -> None:
        """Returns when nothing is written any more."""
        self._is_stopped.set()
        self._thread.join()
        self._watch.remove(self._source.topic)

    def rebuild(self) -> None:
        """The database was found to be damaged."""
        self._is_damaged = True

    # --- on the thread ---

    def _run(self) -> None:
        """Follow the topic as long as it is the same. Whatever goes wrong, it begins again where the store is."""
        pause_s = RETRY_S_MIN
        while not self._is_stopped.is_set():
            started_s = time.monotonic()
            try:
                topic = self._watch.wait(self._source.topic, TOPIC_WAIT_S)
                if topic is None:
                    self._progress.problem = self._watch.problem(self._source.topic)
                    continue
                self._follow(topic)
            except Exception as error:  # noqa: BLE001 - a view that cannot go on now may be able to later
                self._note_failure(error)
                pause_s = RETRY_S_MIN if time.monotonic() - started_s > RETRY_S_MAX else min(2 * pause_s, RETRY_S_MAX)
                self._is_stopped.wait(pause_s)

    def _note_failure(self, error: Exception) -> None:
        self._is_damaged |= isinstance(error, sqlite3.Error) and is_corrupt(error)
        self._failed_s = time.monotonic()
        self._progress.problem = f"{type(error).__name__}: {error}"
        _logger.warning("view %s has to begin again where it was: %s", self._source.name, self._progress.problem)

    def _follow(self, topic: TopicState) -> None:
        self._prepare_store(topic)
        consumer = Consumer(self._settings)
        try:
            session = _Session(self._store, self._progress, consumer, topic, self._registry, self._tell)
            while not self._is_stopped.is_set() and not self._is_damaged:
                now = self._watch.state(self._source.topic)
                if now is not None and now.id != topic.id:
                    return
                if now is not None and now.partitions > topic.partitions:
                    topic = now
                    session.add_partitions(topic.partitions)
                has_more = self._store.tend()
                session.read(BETWEEN_STEPS_S if has_more else POLL_S)
                if self._progress.problem is not None and self._watch.answered_s > self._failed_s:
                    self._progress.problem = None
        finally:
            consumer.close()

    def _prepare_store(self, topic: TopicState) -> None:
        """Rows of another topic that had the same name are not of this one."""
        known = self._store.facts.topic_id
        if self._is_damaged or known not in (None, topic.id):
            _logger.info("view %s is built anew from topic %s", self._source.name, self._source.topic)
            self._store.begin_anew(topic.id)
            self._is_damaged = False
        elif known is None:
            self._store.know_topic(topic.id)

    def _tell(self, error: KafkaError) -> None:
        """librdkafka tries again by itself."""
        self._failed_s = time.monotonic()
        self._progress.problem = error.str()
        if self._failed_s - self._error_told_s >= ERROR_INTERVAL_S:
            self._error_told_s = self._failed_s
            _logger.warning("view %s, topic %s: %s", self._source.name, self._source.topic, error.str())


class _Session:
    """One consumer's time with one topic."""

    def __init__(
        self,
        store: Store,
        progress: Progress,
        consumer: Consumer,
        topic: TopicState,
        registry: RegistryAccess | None,
        on_error: Callable[[KafkaError], None],
    ) -> None:
        self._store = store
        self._source = store.layout.source
        self._progress = progress
        self._consumer = consumer
        self._on_error = on_error
        self._problems: list[Problem] = []
        self._reader = record_reader(store.layout.read, registry, self._problems.append)
        self._positions = {partition: store.facts.positions.get(partition, 0) for partition in range(topic.partitions)}
        self._goals: dict[int, int] = {}
        """The ends that partitions had at first, of those that have not been read so far."""
        consumer.assign(self._begun(self._positions))
        self._tell()

    def _begun(self, partitions: Iterable[int]) -> list[TopicPartition]:
        """Where reading begins. KafkaException while the brokers are away."""
        known = self._store.facts.positions
        places = []
        for partition in partitions:
            place = TopicPartition(self._source.topic, partition, known.get(partition, OFFSET_BEGINNING))
            first, end = self._consumer.get_watermark_offsets(place, ANSWER_S)
            if max(first, self._positions[partition]) < end:
                self._goals[partition] = end
            places.append(place)
        return places

    def add_partitions(self, count: int) -> None:
        new = range(len(self._positions), count)
        self._positions.update(dict.fromkeys(new, 0))
        self._consumer.incremental_assign(self._begun(new))
        self._tell()

    def read(self, wait_s: float) -> None:
        """One batch: what there is, or the first that comes within a while."""
        first = self._consumer.poll(wait_s)
        if first is None:
            return
        messages = []
        for message in (first, *self._consumer.consume(BATCH_RECORDS_MAX - 1, 0)):
            error = message.error()
            if error is None:
                messages.append(message)
            else:
                self._note(error, message)
        if messages:
            self._apply(messages)
        self._tell()

    def _note(self, error: KafkaError, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error.code() == KafkaError._PARTITION_EOF and partition is not None and offset is not None:
            self._goals.pop(partition, None)
            # The markers of transactions at the end are no records, but are behind us as well.
            self._positions[partition] = max(self._positions[partition], offset)
        else:
            self._on_error(error)

    def _apply(self, messages: Sequence[Message]) -> None:
        records = records_of(messages, self._source)
        rows = self._reader.rows(records)
        next_offsets = dict(zip(records.partitions, [offset + 1 for offset in records.offsets], strict=True))
        self._store.apply(rows, next_offsets, self._problems)
        self._problems.clear()
        self._positions.update(next_offsets)
        self._progress.problem = None

    def _tell(self) -> None:
        ends = {}
        for partition, position in self._positions.items():
            place = TopicPartition(self._source.topic, partition)
            _, end = self._consumer.get_watermark_offsets(place, cached=True)
            # Before the first fetch, nothing is known of the end.
            ends[partition] = max(end, position, self._goals.get(partition, 0))
        for partition in [each for each, goal in self._goals.items() if self._positions[each] >= goal]:
            del self._goals[partition]
        self._progress.tell(dict(self._positions), ends, is_caught_up=not self._goals)
