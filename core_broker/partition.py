"""A partition as the broker serves it: a log, the high watermark above it, and whoever waits for either to move."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from barnabas.wire.batch import BatchHeader
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.commit import GroupCommit
from core_broker.log.disk import Disk
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from core_broker.log.staged import Staged
from core_broker.log.unsynced import DirtyFiles
from core_broker.topic_settings import TopicSettings
from core_broker.traffic import Traffic
from core_broker.writer import INLINE_WRITE_MAX_BYTES, Writer

logger = logging.getLogger(__name__)


class Watcher(Protocol):
    """A parked fetch."""

    def arrived(self, partition: Partition, size_bytes: int) -> None:
        """More bytes can be read, or (0 bytes) the partition has changed in another way: look again."""


class Producer(Protocol):
    """A produce request that waits for its batches."""

    def published(self, append: Append) -> None:
        """The batch has its place in the log, or was refused; its bytes are no longer needed."""

    def finished(self, append: Append) -> None:
        """The batch can be acknowledged as its producer asked, or was refused. Always after `published`."""


class Append:
    """One batch on its way into a partition, and then what became of it.

    Most are finished when `Partition.append` returns. Whoever made it looks, and sets `waiting` to be called back otherwise.
    """

    __slots__ = (
        "base_offset",
        "durable",
        "error",
        "finished",
        "header",
        "log_append_time_ms",
        "log_start_offset",
        "now_ms",
        "origin",
        "producer",
        "published",
        "records",
        "slot",
        "waiting",
    )

    def __init__(
        self,
        producer: Producer,
        slot: int,
        records: memoryview,
        header: BatchHeader,
        now_ms: int,
        durable: bool,
        origin: Origin = Origin.CLIENT,
    ) -> None:
        self.producer = producer
        self.origin = origin
        self.slot = slot
        self.records = records
        self.header = header
        self.now_ms = now_ms
        self.durable = durable
        self.base_offset = -1
        self.log_append_time_ms = -1
        self.log_start_offset = -1
        self.error: KafkaError | None = None
        self.published = False
        self.finished = False
        self.waiting = False

    def refuse(self, error: KafkaError) -> None:
        self.error = error
        self.publish()
        self.finish()

    def publish(self) -> None:
        self.published = True
        if self.waiting:
            self.producer.published(self)

    def finish(self) -> None:
        self.finished = True
        if self.waiting:
            self.producer.finished(self)


class Uncommitted(Protocol):
    """Whoever waits for the disk."""

    error: KafkaError | None

    def finish(self) -> None: ...


class Commitment:
    """Waits until everything that was appended so far is durable."""

    __slots__ = ("_then", "error")

    def __init__(self, then: Callable[[KafkaError | None], None]) -> None:
        self._then = then
        self.error: KafkaError | None = None

    def finish(self) -> None:
        self._then(self.error)


class Partition:
    """Owned by the event loop. Appends happen one at a time; large ones are written by the writer thread meanwhile.

    In a durable partition the high watermark follows the disk: a consumer never reads what a power cut can take away.
    """

    def __init__(
        self,
        topic: str,
        topic_id: bytes,
        index: int,
        log: PartitionLog,
        settings: TopicSettings,
        writer: Writer,
        commits: GroupCommit,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.settings = settings
        self.rules = settings.rules
        self.durable = settings.durable
        self.deleted = False
        self.high_watermark = log.log_end_offset
        self.watchers: dict[Watcher, None] = {}
        self.traffic = Traffic()
        """Shared by all partitions of the topic, once the broker has opened this one."""
        self._writer = writer
        self._commits = commits
        self._queue: deque[Append] = deque()
        self._writing: tuple[Append, Staged] | None = None
        self._uncommitted: deque[tuple[int, Uncommitted]] = deque()
        self._uncommitted_bytes = 0
        self._committing_bytes = 0
        self._unflushed_records = 0
        self._clean_at_ms = 0

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    @property
    def last_stable_offset(self) -> int:
        return self.log.last_stable_offset(self.high_watermark)

    @property
    def leader_epoch(self) -> int:
        return self.log.leader_epoch

    def check_leader_epoch(self, epoch: int) -> None:
        """Whether the client's idea of who leads, and since when, is ours; -1 means that it has none."""
        if epoch < 0 or epoch == self.log.leader_epoch:
            return
        if epoch < self.log.leader_epoch:
            raise KafkaError(
                ErrorCode.FENCED_LEADER_EPOCH,
                f"{self} is at leader epoch {self.log.leader_epoch}, and the client at {epoch}",
            )
        raise KafkaError(
            ErrorCode.UNKNOWN_LEADER_EPOCH, f"{self} is at leader epoch {self.log.leader_epoch}, not yet at {epoch}"
        )

    def configure(self, settings: TopicSettings) -> None:
        """Takes over changed topic settings; the next request sees them."""
        self.settings = settings
        self.rules = settings.rules
        self.durable = settings.durable
        self.log.configure(settings.log)
        if not self.durable:
            self._reveal()
        elif self.log.recovery_point < self.log.log_end_offset:
            self._commits.request(self)

    def commit_now(self, disk: Disk) -> None:
        """Makes durable what a recovery has found: written before a crash, it can be seen by clients from now on."""
        dirty = self.log.dirty_files()
        if dirty is not None:
            for descriptor in dirty.descriptors:
                disk.fdatasync(descriptor)
            self.log.mark_synced(dirty.offset)

    def apply_retention(self, now_ms: int) -> None:
        """Deletes what retention gives up; whoever waits below the new start of the log learns of it."""
        before = self.log.log_start_offset
        deleted = self.log.apply_retention(now_ms, self.high_watermark)
        self.log.purge_deleted(now_ms)
        if deleted:
            logger.info(
                "deleted %d segments of %s: it starts at offset %d now", len(deleted), self, self.log.log_start_offset
            )
        if self.log.log_start_offset != before:
            self.notify()

    def flush(self) -> None:
        """Asks for a sync of all that was appended so far."""
        self._commits.request(self)

    def flush_if_due(self, now_ms: int) -> None:
        """What flush.ms asks for: a sync after that time at the latest."""
        if self.log.recovery_point == self.log.log_end_offset:
            self._clean_at_ms = now_ms
        elif now_ms - self._clean_at_ms >= self.settings.flush_ms:
            self._clean_at_ms = now_ms
            self._commits.request(self)

    # Appending.

    def append(self, append: Append) -> None:
        """Takes a checked batch. Unless it is finished when this returns, the rest follows from commit rounds and threads."""
        self.traffic.produces += 1
        if self._writing is not None:
            self._queue.append(append)
        else:
            self._begin(append)

    def _begin(self, append: Append) -> None:
        if self.deleted:
            append.refuse(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self} was deleted"))
            return
        try:
            staged = self.log.stage(append.records, append.header, now_ms=append.now_ms, origin=append.origin)
        except KafkaError as error:
            append.refuse(error)
            return
        except OSError as problem:  # the segment could not be opened or created
            append.refuse(self._not_written(len(append.records), problem))
            return
        if staged.duplicate:
            self._acknowledge(append, staged)
        elif len(append.records) < INLINE_WRITE_MAX_BYTES or append.origin is Origin.COORDINATOR:
            try:
                staged.write()
            except OSError as problem:
                self._discard(append, staged, problem)
            else:
                self._publish(append, staged)
        else:
            self._writing = append, staged
            self._writer.submit(staged.write, self._written)

    def append_at_once(self, records: memoryview, header: BatchHeader, now_ms: int) -> int:
        """Appends a coordinator's batch before this returns, and returns its first offset; see `when_committed`.

        For partitions that only coordinators write to, so that nothing is ever under way. KafkaError, and nothing appended, if
        it is refused.
        """
        if self.deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self} was deleted")
        staged: Staged | None = None
        try:
            staged = self.log.stage(records, header, now_ms=now_ms, origin=Origin.COORDINATOR)
            staged.write()
        except OSError as problem:
            if staged is not None:
                self.log.discard(staged)
            raise self._not_written(len(records), problem) from problem
        self._count(staged)
        if not self.durable and self.watchers:
            self.notify(len(records))
        return staged.base_offset

    def _written(self, problem: Exception | None) -> None:
        assert self._writing is not None
        append, staged = self._writing
        self._writing = None
        if problem is None:
            self._publish(append, staged)
        else:
            self._discard(append, staged, problem)
        while self._queue and self._writing is None:
            self._begin(self._queue.popleft())

    def _discard(self, append: Append, staged: Staged, problem: Exception) -> None:
        self.log.discard(staged)
        append.refuse(self._not_written(len(append.records), problem))

    def _not_written(self, size_bytes: int, problem: Exception) -> KafkaError:
        logger.error("cannot append %d bytes to %s: %s", size_bytes, self, problem)
        return KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"the broker could not write to the log of {self}: {problem}; nothing was stored, retry when the disk has recovered",
        )

    def _publish(self, append: Append, staged: Staged) -> None:
        self._count(staged)
        self._acknowledge(append, staged)
        if not self.durable and self.watchers:
            self.notify(len(append.records))

    def _count(self, staged: Staged) -> None:
        """Makes a written batch count: in the log, in the traffic, and for the disk or the high watermark."""
        self.log.publish(staged)
        size_bytes, record_count = len(staged.view), staged.header.record_count
        traffic = self.traffic
        traffic.bytes_in += size_bytes
        traffic.messages_in += record_count
        if self.durable:
            self._uncommitted_bytes += size_bytes
            self._commits.request(self)
            return
        self.high_watermark = self.log.log_end_offset
        self._unflushed_records += record_count
        if self._unflushed_records >= self.settings.flush_messages:
            self._commits.request(self)

    def _reveal(self) -> None:
        """The partition has become a relaxed one: what waits for the disk no longer does."""
        self.high_watermark = self.log.log_end_offset
        uncommitted, self._uncommitted = self._uncommitted, deque()
        for _, waiting in uncommitted:
            waiting.finish()
        self.notify()

    def _acknowledge(self, append: Append, staged: Staged) -> None:
        append.base_offset = staged.base_offset
        # Of a duplicate Kafka tells the time, too, whoever's it is.
        tells_time = staged.duplicate or self.settings.rules.log_append_time
        append.log_append_time_ms = staged.timestamp if tells_time else -1
        append.log_start_offset = self.log.log_start_offset
        append.publish()
        # A duplicate waits for all that was written so far: its first attempt is among that, durable or not.
        if append.durable and self.durable and self.high_watermark < self.log.log_end_offset:
            self._uncommitted.append((self.log.log_end_offset, append))
        else:
            append.finish()

    @property
    def is_committed(self) -> bool:
        """Whether all that was appended so far can be read by consumers."""
        return self.high_watermark >= self.log.log_end_offset or self.deleted

    def when_committed(self, then: Callable[[KafkaError | None], None]) -> None:
        """Calls back once everything is committed, perhaps at once."""
        if self.is_committed:
            then(None)
        else:
            self._uncommitted.append((self.log.log_end_offset, Commitment(then)))

    # Committing: what GroupCommit calls.

    def begin_commit(self) -> DirtyFiles | None:
        if self.deleted:
            return None
        try:
            dirty = self.log.dirty_files()
        except OSError as error:
            self._refuse_uncommitted(error)
            raise
        if dirty is not None:
            self._committing_bytes, self._uncommitted_bytes = self._uncommitted_bytes, 0
        return dirty

    def end_commit(self, end_offset: int) -> None:
        self.log.mark_synced(end_offset)
        self._unflushed_records = 0
        if self.deleted or end_offset <= self.high_watermark:
            return
        self.high_watermark = end_offset
        uncommitted = self._uncommitted
        while uncommitted and uncommitted[0][0] <= end_offset:
            _, waiting = uncommitted.popleft()
            waiting.finish()
        if self.watchers:
            self.notify(self._committing_bytes)

    def fail_commit(self, error: OSError) -> None:
        """Nobody is told of success, and nothing becomes visible, until a later round succeeds."""
        self._uncommitted_bytes += self._committing_bytes
        try:
            self.log.sync_failed()
        except OSError as problem:
            logger.error("%s: %s", self, problem)
        self._refuse_uncommitted(error)

    def _refuse_uncommitted(self, error: OSError) -> None:
        self._fail_uncommitted(
            KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the broker could not make {self} durable: {error}; retry when the disk has recovered",
            )
        )

    def _fail_uncommitted(self, error: KafkaError) -> None:
        uncommitted, self._uncommitted = self._uncommitted, deque()
        for _, waiting in uncommitted:
            waiting.error = error
            waiting.finish()

    # Watching.

    def notify(self, size_bytes: int = 0) -> None:
        for watcher in list(self.watchers):
            watcher.arrived(self, size_bytes)

    def delete(self) -> None:
        """Ends everything that waits for this partition. The caller removes the files."""
        self.deleted = True
        self._fail_uncommitted(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self} was deleted"))
        self.notify()
