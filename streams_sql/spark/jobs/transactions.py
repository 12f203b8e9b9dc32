"""Exactly once: the records of a task and a mark of what they were made from are one transaction.

A task that is run again looks at the mark, and leaves out what has been written. Where each task reads one partition of a topic, the mark
is the offset up to which that was read, committed like a consumer's: it says the same however Spark cuts its batches. Behind an operator
with state, tasks are numbered, and the mark is the number of the batch, in a group of the task's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from streams_sql.plan.pipeline import Origin, Row
from streams_sql.spark.jobs.producers import PlainProducer
from streams_sql.spark.sources.broker_access import KafkaAccess

MARK_DEADLINE_S: Final = 30.0
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""Longer than a task takes; brokers allow 15 minutes unless they are told otherwise."""
BATCH_RECORDS_MAX: Final = 200_000
"""Read in one batch, so that its transactions stay short."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Where the tasks of a query note what they have written. `name` begins the names of transactions; `group` is that of the offsets
    of `source`, or begins those of the numbered tasks where there is none."""

    name: str
    group: str
    sink: str
    source: str | None = None

    def transaction(self, task: int) -> str:
        """The transactional id of a task, by the number of the partition that it reads, or its own."""
        return f"{self.name}/{task}"

    def place(self, task: int) -> tuple[str, TopicPartition]:
        """The group of a task's mark, and what the mark is an offset of."""
        if self.source is not None:
            return self.group, TopicPartition(self.source, task)
        return f"{self.group}/{task}", TopicPartition(self.sink, 0)


class TransactionalProducer:
    """Another worker that takes up the task fences this one off: both use the same transactional id. What a task without rows would
    write needs no transaction."""

    def __init__(self, access: KafkaAccess, marks: Marks, task: int, batch_id: int) -> None:
        self._access = access
        self._marks = marks
        self._task = task
        self._mark = batch_id + 1
        self._transaction: _Transaction | None = None

    def unwritten(self, rows: list[Row]) -> list[Row]:
        if not rows:
            return rows
        transaction = self._transaction or self._opened(rows[0][-1])
        if self._marks.source is None:
            return [] if transaction.written >= self._mark else rows
        self._mark = rows[-1][-1][2] + 1
        if self._mark <= transaction.written:
            return []
        return [row for row in rows if row[-1][2] >= transaction.written]

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
    ) -> Sequence[int]:
        if not keys:
            return ()
        assert self._transaction is not None, "rows were looked at before they are written"
        return self._transaction.produce(topic, keys, values, timestamps)

    def finish(self) -> None:
        if self._transaction is not None:
            self._transaction.finish_with(self._mark)

    def abandon(self) -> None:
        if self._transaction is not None:
            self._transaction.abandon()

    def _opened(self, origin: Origin) -> _Transaction:
        task = self._task if self._marks.source is None else origin[1]
        self._transaction = _Transaction(self._access, self._marks, task)
        return self._transaction


class _Transaction(PlainProducer):
    """One transaction of one task. `written` is the mark of the one before it."""

    def __init__(self, access: KafkaAccess, marks: Marks, task: int) -> None:
        super().__init__(access, _settings(marks.transaction(task)))
        group, self._place = marks.place(task)
        self._group = Consumer(
            {
                **access.librdkafka,
                "bootstrap.servers": access.bootstrap_servers,
                "group.id": group,
                "isolation.level": "read_committed",
            }
        )
        # Before the group is asked: this ends what a worker before us has left open.
        self._producer.init_transactions(MARK_DEADLINE_S)
        (found,) = self._group.committed([self._place], timeout=MARK_DEADLINE_S)
        self.written = found.offset
        self._is_begun = False

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        timestamps: Sequence[int],
    ) -> Sequence[int]:
        if not self._is_begun:
            self._producer.begin_transaction()
            self._is_begun = True
        return super().produce(topic, keys, values, timestamps)

    def finish_with(self, mark: int) -> None:
        try:
            if self._is_begun:
                self.finish()
                marked = TopicPartition(self._place.topic, self._place.partition, mark)
                group: Any = self._group.consumer_group_metadata()
                self._producer.send_offsets_to_transaction([marked], group, MARK_DEADLINE_S)
                self._producer.commit_transaction(MARK_DEADLINE_S)
        finally:
            self._group.close()

    def abandon(self) -> None:
        if self._is_begun:
            with contextlib.suppress(KafkaException):
                self._producer.abort_transaction(MARK_DEADLINE_S)
        self._group.close()


def end_transaction(access: KafkaAccess, name: str) -> None:
    """End what a task that was killed has left open, and what readers of committed records would wait for."""
    producer = Producer({**access.librdkafka, "bootstrap.servers": access.bootstrap_servers, **_settings(name)})
    producer.init_transactions(MARK_DEADLINE_S)


def _settings(name: str) -> dict[str, str]:
    return {"transactional.id": name, "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS)}
