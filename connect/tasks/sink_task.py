"""The loop of a sink: consume, convert, transform, write, flush, commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from confluent_kafka import Message

from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.errors import DataError, Retry
from connect.tasks.context import TaskContext
from connect.tasks.control import TaskStop
from connect.tasks.coroutine_runner import CoroutineRunner
from connect.tasks.dead_letter_queue import Stage
from connect.tasks.messages import PausedState, RunningState, UsedTopics
from connect.tasks.record_consumer import IDLE_S, RecordConsumer
from connect.tasks.record_decoder import DecodedBatch, RecordDecoder, origin_of
from connect.tasks.record_producer import RecordProducer
from connect.tasks.retries import Retries
from connect.tasks.task_metrics import MetricsReporter
from connect.tasks.unused_memory import UnusedMemory

logger = logging.getLogger(__name__)


class SinkTask:
    """Runs one task until the worker wants it to stop. Everything happens on one thread, the consumer's callbacks too."""

    def __init__(
        self,
        sink: Sink[Any],
        decoder: RecordDecoder,
        consumer_of: Callable[[SinkTask], RecordConsumer],
        dead_letters: RecordProducer | None,
        callback_retries: Retries,
        context: TaskContext,
    ) -> None:
        self._sink = sink
        self._decoder = decoder
        self._dead_letters = dead_letters
        self._callback_retries = callback_retries
        self._context = context
        self._control = context.control
        self._metrics = context.metrics
        self._retries = context.retries
        self._tell = context.tell
        self._report = MetricsReporter(context.metrics, context.tell)
        self._coroutines = CoroutineRunner()
        self._memory = UnusedMemory()
        self._assigned: set[TopicPartition] = set()
        self._positions: dict[TopicPartition, int] = {}
        self._taken_away: set[TopicPartition] = set()
        self._is_dirty = False
        self._topics: set[str] = set()
        self._next_commit_at = monotonic() + context.commit_interval_s
        self._retries.rest = self._rest
        self._consumer = consumer_of(self)

    def run(self) -> None:
        """Return when the worker wanted a stop; raise what ends the task otherwise. What was written is committed in both cases."""
        try:
            self._retries.call(self._sink.start)
            if not self._control.wants_pause:
                self._tell(RunningState())
            while True:
                self._control.check()
                if self._control.wants_pause:
                    self._pause()
                self._step()
        except TaskStop:
            return
        except Exception:
            # What is left is told as long as the task does not run.
            self._note_lag()
            raise
        finally:
            self._close()

    def assign(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The offsets to read from, for partitions whose offsets the target keeps."""
        self._assigned.update(partitions)
        return self._callback_retries.call(lambda: self._sink.positions(partitions))

    def revoke(self, partitions: Sequence[TopicPartition]) -> None:
        """Another task takes over: what was written there is made durable and committed first."""
        try:
            self._flush_once()
        except Retry as retry:
            logger.warning("partitions are given up without a flush, and read again by who gets them: %s", retry)
        else:
            self._consumer.commit(self._positions_of(partitions), waits=True)
        self._give_up(partitions)

    def give_up_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """The group has gone on without this task: somebody else may read these partitions already."""
        self._give_up(partitions)

    def note_commit(self, is_done: bool) -> None:
        if is_done:
            self._metrics.commits += 1
        else:
            self._metrics.failed_commits += 1
            self._is_dirty = True

    def _step(self) -> None:
        messages = self._consumer.read()
        if messages:
            self._process(messages)
            self._memory.busy()
        else:
            self._memory.idle()
        self._pass_ends()
        if monotonic() >= self._next_commit_at:
            self._commit(waits=False)
        self._report_if_due()

    def _process(self, messages: Sequence[Message]) -> None:
        self._taken_away.clear()
        self._metrics.batch_read(len(messages))
        reached = self._note_read(messages)
        decoded = self._decoder.decode(messages)
        if decoded.records:
            self._write(decoded)
        self._positions |= {place: offset for place, offset in reached.items() if place not in self._taken_away}
        self._is_dirty = True

    def _pass_ends(self) -> None:
        """Behind the last record there may be something else, such as the marks of transactions: no lag, and nothing to read again."""
        for place, end in self._consumer.ends.items():
            position = self._positions.get(place)
            if position is None or position < end:
                self._positions[place] = end
                self._is_dirty = self._is_dirty or position is not None

    def _note_read(self, messages: Sequence[Message]) -> dict[TopicPartition, int]:
        """For each partition of a batch the offset after it."""
        places = list(zip(map(Message.topic, messages), map(Message.partition, messages), strict=True))
        offsets = list(map(Message.offset, messages))
        lasts: dict[Any, Any] = dict(zip(places, offsets, strict=True))
        if not lasts.keys() <= self._positions.keys():
            self._meet_partitions(dict(zip(reversed(places), reversed(offsets), strict=True)))
        return {TopicPartition(*place): offset + 1 for place, offset in lasts.items()}

    def _meet_partitions(self, firsts: Mapping[Any, Any]) -> None:
        """Where each partition begins is its position until something of it is written."""
        for place, offset in firsts.items():
            self._positions.setdefault(TopicPartition(*place), offset)
        new_topics = {topic for topic, _ in firsts} - self._topics
        if new_topics:
            self._topics |= new_topics
            self._tell(UsedTopics(sorted(new_topics)))

    def _write(self, batch: DecodedBatch) -> None:
        """Write a batch; what the target never takes is rejected row by row."""
        try:
            written, rejected = self._retries.call(lambda: self._put(batch))
        except DataError as error:
            self._isolate(batch, error)
            return
        for each in rejected:
            self._reject(written.origins[each.place], each.error)

    def _put(self, batch: DecodedBatch) -> tuple[DecodedBatch, Sequence[RejectedRecord]]:
        batch = self._still_ours(batch)
        if not batch.records:
            return batch, ()
        started_at = monotonic()
        rejected = self._coroutines.result(self._sink.write(batch.records)) or ()
        self._metrics.batch_handed_over(len(batch.records) - len(rejected), monotonic() - started_at)
        return batch, rejected

    def _isolate(self, batch: DecodedBatch, error: DataError) -> None:
        """Find the bad record of a batch that was refused as a whole, by halves."""
        count = len(batch.records)
        if count == 1 or not self._context.tolerance.tolerates_all:
            self._reject(batch.origins[0], error)
            return
        middle = count // 2
        for half in (slice(0, middle), slice(middle, count)):
            self._write(DecodedBatch(batch.records[half], batch.origins[half]))

    def _reject(self, origin: Message, error: Exception) -> None:
        self._context.tolerance.reject(origin_of(origin), Stage.TASK_PUT, self._sink, error)

    def _still_ours(self, batch: DecodedBatch) -> DecodedBatch:
        """Without the records of partitions that were taken away while the batch waited."""
        if not self._taken_away:
            return batch
        kept = [
            (record, origin)
            for record, origin in zip(batch.records, batch.origins, strict=True)
            if (origin.topic(), origin.partition()) not in self._taken_away
        ]
        return DecodedBatch([record for record, _ in kept], [origin for _, origin in kept])

    def _commit(self, *, waits: bool) -> None:
        self._next_commit_at = monotonic() + self._context.commit_interval_s
        if self._is_dirty:
            self._is_dirty = False
            self._retries.call(self._flush_once)
            self._consumer.commit(self._positions, waits=waits)

    def _flush_once(self) -> None:
        self._sink.flush()
        if self._dead_letters is not None:
            if not self._dead_letters.flush(self._context.flush_timeout_s):
                raise Retry("Kafka does not acknowledge what was written to the dead-letter queue")
            self._dead_letters.raise_undelivered()

    def _positions_of(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        return {place: self._positions[place] for place in partitions if place in self._positions}

    def _give_up(self, partitions: Sequence[TopicPartition]) -> None:
        self._taken_away.update(partitions)
        self._assigned.difference_update(partitions)
        for place in partitions:
            self._positions.pop(place, None)
        self._sink.close_partitions(partitions)

    def _pause(self) -> None:
        self._commit(waits=True)
        self._consumer.pause()
        self._metrics.is_paused = True
        self._tell(PausedState())
        while self._control.wants_pause:
            self._control.check()
            self._consumer.keep_alive(IDLE_S)
            self._report_if_due()
        self._consumer.resume()
        self._metrics.is_paused = False
        self._tell(RunningState())

    def _rest(self, seconds: float) -> None:
        """Pass the time as a member of the group, which gets no records meanwhile. TaskStop."""
        self._consumer.pause()
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0:
            self._control.check()
            if self._control.wants_pause:
                # When that is over, records come again: no more of them may be waited away here.
                self._pause()
                return
            self._consumer.keep_alive(min(left, IDLE_S))
            self._report_if_due()
        self._consumer.resume()

    def _close(self) -> None:
        # The consumer revokes what is still assigned.
        for close in (self._consumer.close, self._sink.stop, self._coroutines.close):
            try:
                close()
            except TaskStop:
                logger.warning(
                    "the end of the task took too long and was broken off; what is not committed is written again"
                )
            except Exception:
                logger.exception("the sink could not be closed properly; what is not committed is written again")
        self._context.tolerance.skipped.tell()
        self._report.send()

    def _report_if_due(self) -> None:
        if self._report.is_due():
            self._context.tolerance.skipped.tell_if_due()
            self._note_lag()
            self._report.send()

    def _note_lag(self) -> None:
        # Without partitions, while the group or Kafka is waited for, nobody knows; 0 would say that all is written.
        self._metrics.lag_records = self._consumer.lag(self._assigned, self._positions) if self._assigned else None
