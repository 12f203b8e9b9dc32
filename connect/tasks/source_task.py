"""The loop of a source: read, transform, convert, produce, commit."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Final

from connect.api.source import Batch, Idle, RejectedInput, Shard, Source
from connect.errors import ConnectError, DataError
from connect.tasks.context import TaskContext
from connect.tasks.control import TaskStop
from connect.tasks.coroutine_runner import CoroutineRunner
from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.delivery import Delivery
from connect.tasks.messages import IdleState, PausedState, RunningState, UsedTopics
from connect.tasks.record_encoder import RecordEncoder
from connect.tasks.record_producer import TopicMessages
from connect.tasks.task_metrics import REPORT_INTERVAL_S, MetricsReporter
from connect.tasks.topic_creation import TopicCreation
from connect.tasks.unused_memory import UnusedMemory

logger = logging.getLogger(__name__)

TOPICS_MAX: Final = 100_000
"""Topics that one task may write to; more is a mistake in a transform that routes."""


class SourceTask:
    """Runs one task until the worker wants it to stop. Everything happens on one thread."""

    def __init__(
        self,
        source: Source[Any],
        shards: Sequence[Shard],
        encoder: RecordEncoder,
        delivery: Delivery,
        creation: TopicCreation,
        context: TaskContext,
    ) -> None:
        self._source = source
        self._shards = shards
        self._encoder = encoder
        self._delivery = delivery
        self._creation = creation
        self._context = context
        self._control = context.control
        self._metrics = context.metrics
        self._retries = context.retries
        self._tell = context.tell
        self._report = MetricsReporter(context.metrics, context.tell)
        self._coroutines = CoroutineRunner()
        self._memory = UnusedMemory()
        self._items: Iterator[Batch | Idle] | None = None
        self._is_exhausted = False
        self._topics: set[str] = set()
        self._waits_for = ""
        self._retries.rest = self._rest

    def run(self) -> None:
        """Return when the worker wanted a stop and everything is committed that could be; raise what ends the task otherwise."""
        if not self._control.wants_pause:
            self._tell(RunningState())
        try:
            while True:
                self._control.check()
                if self._control.wants_pause:
                    self._pause()
                self._step()
        except TaskStop:
            self._close_source()
            if not self._delivery.commit(self._context.flush_timeout_s):
                self._delivery.abandon()
        except BaseException:
            self._delivery.conclude(self._context.flush_timeout_s)
            raise
        finally:
            self._coroutines.close()
            self._context.tolerance.skipped.tell()
            self._report.send()

    def _rest(self, seconds: float) -> None:
        """Pass the time, with an eye on the worker's requests and on what is due. TaskStop."""
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0:
            if self._control.wants_pause:
                self._pause()
            self._delivery.look_for_failures()
            self._retries.call(self._commit_if_due)
            self._report_if_due()
            self._control.wait(min(left, REPORT_INTERVAL_S, self._delivery.seconds_to_commit()))

    def _step(self) -> None:
        item = self._retries.call(self._next)
        self._tell_wait(item.reason if isinstance(item, Idle) else "")
        if isinstance(item, Idle):
            self._memory.idle()
            self._rest(item.seconds)
            return
        self._memory.busy()
        self._metrics.batch_read(len(item.records))
        self._delivery.begin_batch()
        for rejected in item.rejected:
            self._reject(rejected)
        started_at = monotonic()
        sent = self._deliver(item)
        self._metrics.batch_handed_over(sent, monotonic() - started_at)
        self._retries.call(self._commit_if_due)
        self._report_if_due()

    def _tell_wait(self, reason: str) -> None:
        """Once, and again when it is over."""
        if reason != self._waits_for:
            self._waits_for = reason
            self._tell(IdleState(reason) if reason else RunningState())

    def _next(self) -> Batch | Idle:
        if self._is_exhausted:
            return Idle(REPORT_INTERVAL_S)
        try:
            if self._items is None:
                self._items = self._coroutines.items(self._source.read(self._shards, self._delivery.offsets.reached()))
            return next(self._items)
        except StopIteration:
            # Everything is read: the task stays, as it would if more might come.
            self._is_exhausted = True
            return Idle(0)
        except BaseException:
            # A generator that raised is at its end; a new one goes on from what was read.
            self._close_source()
            raise

    def _deliver(self, batch: Batch) -> int:
        """How many records were handed over."""
        outgoing = self._encoder.encode(batch.records)
        for each in outgoing:
            if each.topic not in self._topics:
                self._meet_topic(each)
        self._delivery.send(outgoing, batch.offsets)
        return sum(len(each.messages) for each in outgoing)

    def _commit_if_due(self) -> None:
        try:
            self._delivery.commit_if_due(self._context.flush_timeout_s)
        except BaseException:
            # A transaction is lost: its records are read again.
            self._close_source()
            raise

    def _meet_topic(self, outgoing: TopicMessages) -> None:
        if len(self._topics) >= TOPICS_MAX:
            raise ConnectError(
                f"the task has written to {TOPICS_MAX} topics, and now to {outgoing.topic}: is a transform wrong?"
            )
        self._retries.call(lambda: self._creation.ensure(outgoing.topic))
        self._topics.add(outgoing.topic)
        self._tell(UsedTopics((outgoing.topic,)))

    def _reject(self, rejected: RejectedInput) -> None:
        origin = Origin(rejected.topic, None, rejected.data)
        self._context.tolerance.reject(origin, Stage.TASK_POLL, self._source, DataError(rejected.reason))

    def _pause(self) -> None:
        self._delivery.commit(self._context.flush_timeout_s)
        self._metrics.is_paused = True
        self._tell(PausedState())
        while self._control.wants_pause:
            self._report_if_due()
            self._control.wait(REPORT_INTERVAL_S)
        self._metrics.is_paused = False
        self._tell(RunningState())

    def _report_if_due(self) -> None:
        if self._report.is_due():
            self._context.tolerance.skipped.tell_if_due()
            self._report.send()

    def _close_source(self) -> None:
        items, self._items, self._is_exhausted = self._items, None, False
        close = getattr(items, "close", None)
        if close is not None:
            close()
