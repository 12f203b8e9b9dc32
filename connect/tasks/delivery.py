"""How the records of a source and its offsets reach Kafka: offsets after records, or both in one transaction."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from confluent_kafka import KafkaException

from connect.api.source import SourceOffset
from connect.errors import ConnectError, Retry
from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.messages import OffsetReport
from connect.tasks.record_producer import RecordProducer, TopicMessages, refusal
from connect.tasks.source_offsets import ReachedOffsets
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance

logger = logging.getLogger(__name__)

TRANSACTION_TIMEOUT_S: Final = 10.0
"""How long one call to the coordinator of transactions waits before it is made again."""


@dataclass(frozen=True, slots=True)
class DeliveryContext:
    """What every way of delivery works with. `interval_s` is the time between two commits."""

    producer: RecordProducer
    offsets: ReachedOffsets
    tolerance: Tolerance
    metrics: TaskMetrics
    interval_s: float


class Delivery(ABC):
    """Takes batches in order. What was handed over counts once `commit` has returned True."""

    def __init__(self, parts: DeliveryContext) -> None:
        self._producer = parts.producer
        self.offsets = parts.offsets
        self._tolerance = parts.tolerance
        self._metrics = parts.metrics
        self._interval_s = parts.interval_s
        self._next_commit_at = monotonic() + parts.interval_s
        self._is_torn = False
        self._has_lost = False

    def begin_batch(self) -> None:
        """A batch follows, perhaps with dead letters first; `send` ends it."""
        self._is_torn = True

    def send(self, batches: Sequence[TopicMessages], offsets: Sequence[SourceOffset]) -> None:
        """Hand over a batch, and how far the source is read with it."""
        for outgoing in batches:
            self._producer.send(outgoing)
        self.offsets.advance(offsets)
        self._is_torn = False
        self.look_for_failures()

    def look_for_failures(self) -> None:
        """Reject what Kafka did not take."""
        self._producer.poll()
        for topic, key, value, error in self._producer.take_undelivered():
            # Until somebody has taken it, offsets behind it must not be committed.
            self._has_lost = True
            self._tolerance.reject(
                Origin(topic, key, value), Stage.KAFKA_PRODUCE, self._producer, KafkaException(error)
            )
            self._has_lost = False

    @property
    def has_uncommitted(self) -> bool:
        return bool(self.offsets.pending)

    def seconds_to_commit(self) -> float:
        return max(self._next_commit_at - monotonic(), 0.0) if self.has_uncommitted else math.inf

    def commit_if_due(self, timeout_s: float) -> None:
        if self.has_uncommitted and monotonic() >= self._next_commit_at:
            self.commit(timeout_s)

    def commit(self, timeout_s: float) -> bool:
        """Make everything durable, records first, then the offsets. False when it was not within the time: it is tried again later."""
        self._next_commit_at = monotonic() + self._interval_s
        count = int(self.has_uncommitted)
        is_done = self._commit(timeout_s)
        if is_done:
            self._metrics.commits += count
        else:
            self._metrics.failed_commits += 1
            logger.warning("Kafka did not acknowledge everything within %.1f s; offsets are committed later", timeout_s)
        return is_done

    def conclude(self, timeout_s: float) -> None:
        """The task fails: what it delivered before counts all the same, or it would be read and written again at each restart."""
        try:
            if not self._has_lost and self.commit(timeout_s):
                return
        except (ConnectError, Retry, KafkaException) as problem:
            logger.warning("what was read last is read again: %s", problem)
        self.abandon()

    def abandon(self) -> None:
        """The task fails: what is not committed is not committed any more, and is read again."""
        self._producer.close()

    @abstractmethod
    def _commit(self, timeout_s: float) -> bool: ...


class ReportedDelivery(Delivery):
    """At least once, for a worker that keeps the offsets itself: it is told them."""

    def __init__(self, parts: DeliveryContext, tell: Callable[[object], None]) -> None:
        super().__init__(parts)
        self._tell = tell

    def _commit(self, timeout_s: float) -> bool:
        if not self._producer.flush(timeout_s):
            return False
        self.look_for_failures()
        if self.offsets.pending:
            self._tell(OffsetReport(self.offsets.pending))
            self.offsets.committed()
        return True


class StoredDelivery(Delivery):
    """At least once: offsets go to their topic when everything before them is acknowledged."""

    def __init__(self, parts: DeliveryContext, topic: str) -> None:
        super().__init__(parts)
        self._topic = topic

    def _commit(self, timeout_s: float) -> bool:
        if not self._producer.flush(timeout_s):
            return False
        self.look_for_failures()
        records = self.offsets.records()
        if records:
            self._producer.send(TopicMessages(self._topic, [record._asdict() for record in records]))
            if not self._producer.flush(timeout_s):
                return False
            self.look_for_failures()
            self.offsets.committed()
        return True


class TransactionalDelivery(Delivery):
    """Exactly once: the records and the offsets that they reach are in one transaction.

    With an interval of 0 each batch is a transaction.
    """

    def __init__(self, parts: DeliveryContext, topic: str) -> None:
        super().__init__(parts)
        self._topic = topic
        self._is_open = False
        self._is_ending = False

    @property
    def has_uncommitted(self) -> bool:
        return self._is_open and not self._is_torn

    def begin_batch(self) -> None:
        super().begin_batch()
        if not self._is_open:
            try:
                self._producer.client.begin_transaction()
            except KafkaException as problem:
                raise refusal(problem.args[0]) from problem
            self._is_open = True

    def _commit(self, timeout_s: float) -> bool:
        """Half a batch is never committed: its offsets are not known yet."""
        if not self.has_uncommitted:
            return not self._is_torn
        if not self._is_ending:
            records = self.offsets.records()
            if records:
                self._producer.send(TopicMessages(self._topic, [record._asdict() for record in records]))
            self.look_for_failures()
            # A commit that is broken off goes on here: the offsets are in the transaction, and it takes nothing more.
            self._is_ending = True
        self._end()
        self._is_open = self._is_ending = False
        self.offsets.committed()
        return True

    def _end(self) -> None:
        """Commit; when the transaction is lost, Retry, and the source is read again from what was committed last."""
        while True:
            try:
                self._producer.client.commit_transaction(TRANSACTION_TIMEOUT_S)
                return
            except KafkaException as problem:
                error = problem.args[0]
                if error.txn_requires_abort():
                    self._abort()
                    raise Retry(f"a transaction was not committed, and is made again: {error.str()}") from problem
                if not error.retriable():
                    raise refusal(error) from problem
                logger.warning("the transaction is not committed yet: %s", error.str())
                self._producer.check()

    def abandon(self) -> None:
        """Readers of committed data need not wait until the broker notices that the transaction is left alone."""
        try:
            self._abort()
        except KafkaException as problem:
            logger.warning("the open transaction is left to the broker: %s", problem.args[0].str())
        super().abandon()

    def _abort(self) -> None:
        if self._is_open:
            self._producer.client.abort_transaction(TRANSACTION_TIMEOUT_S)
            self._producer.forget_undelivered()
            self._is_open = self._is_torn = self._is_ending = False
            self.offsets.forget_pending()


def shut_out_predecessors(producer: RecordProducer) -> None:
    """Take the transactional id: whoever wrote under it before cannot any more, and what it left open is aborted. Retry while Kafka is away."""
    try:
        producer.client.init_transactions(TRANSACTION_TIMEOUT_S)
    except KafkaException as problem:
        error = problem.args[0]
        if error.retriable():
            raise Retry(f"transactions cannot be used yet: {error.str()}") from problem
        raise refusal(error) from problem
