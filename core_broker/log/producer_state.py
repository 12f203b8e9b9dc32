"""What the log knows of idempotent and transactional producers: sequences, epochs, open transactions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from barnabas.wire.batch import BatchHeader
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.transaction_index import AbortedTransaction

REMEMBERED_BATCHES: Final = 5  # a producer may have this many requests in flight, so any of them may be sent again
NO_SEQUENCE: Final = -1
NO_EPOCH: Final = -1
NO_OFFSET: Final = -1

_SEQUENCE_MASK: Final = 0x7FFF_FFFF  # sequences count from 0 to 2147483647 and start over


class Origin(Enum):
    """Who appends, which says how much is checked."""

    CLIENT = "client"  # epochs, sequences and duplicates
    COORDINATOR = "coordinator"  # epochs alone: offset commits and transaction markers carry no sequence


class AppendedBatch(NamedTuple):
    """A batch that a producer appended, by which a repetition is known."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class Marker(NamedTuple):
    """The end of a transaction, as the record of a control batch tells it."""

    commits: bool
    coordinator_epoch: int


class Producer:
    """The state of one producer id in one partition."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "producer_id", "transaction_offset")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_EPOCH
        self.batches: deque[AppendedBatch] = deque(maxlen=REMEMBERED_BATCHES)
        self.last_timestamp = -1
        self.coordinator_epoch = -1
        self.transaction_offset = NO_OFFSET  # the first offset of the open transaction

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def move_to_epoch(self, epoch: int) -> None:
        if self.epoch != epoch:
            self.epoch = epoch
            self.batches.clear()


class Producers:
    """All producers of a partition. Checks come before a write, `apply` after it."""

    __slots__ = ("_completed", "_open", "_partition", "by_id")

    def __init__(self, partition: str) -> None:
        self._partition = partition
        self.by_id: dict[int, Producer] = {}
        self._open: dict[int, int] = {}  # first offset -> producer id; offsets grow, so the first key is the smallest
        self._completed: dict[int, int] = {}  # first offset -> marker's offset, until the high watermark has passed it

    # -- before the write ---------------------------------------------------------------------------------------------

    def check(self, header: BatchHeader, origin: Origin) -> AppendedBatch | None:
        """Refuse what must not be appended; a batch that was appended before comes back as it was then."""
        producer = self.by_id.get(header.producer_id)
        if producer is None:
            return None  # nothing is known, so any sequence may be the next one
        epoch = header.producer_epoch
        if epoch == producer.epoch:
            if origin is Origin.CLIENT:
                sequence = header.base_sequence
                if sequence != (producer.last_sequence + 1) & _SEQUENCE_MASK:
                    return self._repetition(producer, header)
        elif epoch < producer.epoch:
            raise self._stale_epoch(producer, epoch)
        elif origin is Origin.CLIENT and header.base_sequence != 0:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {producer.producer_id} begins epoch {epoch} in {self._partition} with sequence "
                f"{header.base_sequence}; a new epoch begins with 0",
            )
        if producer.transaction_offset >= 0 and not header.is_transactional:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {producer.producer_id} has an open transaction in {self._partition} since offset "
                f"{producer.transaction_offset}, but sent records outside of it",
            )
        return None

    def check_marker(self, header: BatchHeader, marker: Marker) -> None:
        """Refuse the marker of a producer epoch or of a coordinator that was replaced."""
        producer = self.by_id.get(header.producer_id)
        if producer is None:
            return
        if header.producer_epoch < producer.epoch:
            raise self._stale_epoch(producer, header.producer_epoch)
        if marker.coordinator_epoch < producer.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} of a marker for producer {producer.producer_id} in "
                f"{self._partition} is older than {producer.coordinator_epoch}: another coordinator took over",
            )

    def _repetition(self, producer: Producer, header: BatchHeader) -> AppendedBatch:
        first = header.base_sequence
        last = (first + header.last_offset_delta) & _SEQUENCE_MASK
        for batch in producer.batches:
            if batch.first_sequence == first and batch.last_sequence == last:
                return batch
        raise KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {producer.producer_id} sent sequence {first} to {self._partition} after "
            f"{producer.last_sequence}: batches in between were lost or came in another order",
        )

    def _stale_epoch(self, producer: Producer, epoch: int) -> KafkaError:
        return KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"epoch {epoch} of producer {producer.producer_id} in {self._partition} is older than {producer.epoch}: "
            "another instance with the same transactional id took over",
        )

    # -- after the write ----------------------------------------------------------------------------------------------

    def apply(self, header: BatchHeader, base_offset: int) -> None:
        """Remember a batch of records that now stands in the log."""
        producer_id = header.producer_id
        producer = self.by_id.get(producer_id)
        if producer is None:
            producer = self.by_id[producer_id] = Producer(producer_id)
        if producer.epoch != header.producer_epoch:
            producer.move_to_epoch(header.producer_epoch)
        delta = header.last_offset_delta
        first = header.base_sequence
        last = (first + delta) & _SEQUENCE_MASK if first >= 0 else NO_SEQUENCE
        timestamp = producer.last_timestamp = header.max_timestamp
        producer.batches.append(AppendedBatch(first, last, base_offset, base_offset + delta, timestamp))
        if producer.transaction_offset < 0 and header.is_transactional:
            producer.transaction_offset = base_offset
            self._open[base_offset] = producer_id

    def apply_marker(self, header: BatchHeader, offset: int, marker: Marker) -> AbortedTransaction | None:
        """Remember a marker that now stands in the log; an aborted transaction comes back for the index."""
        producer_id = header.producer_id
        producer = self.by_id.get(producer_id)
        if producer is None:
            producer = self.by_id[producer_id] = Producer(producer_id)
        first_offset = producer.transaction_offset
        producer.move_to_epoch(header.producer_epoch)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp = header.max_timestamp
        producer.transaction_offset = NO_OFFSET
        if first_offset < 0:
            return None  # the transaction wrote nothing here
        self._open.pop(first_offset, None)
        self._completed[first_offset] = offset
        if marker.commits:
            return None
        stable = next(iter(self._open), offset + 1)
        return AbortedTransaction(producer_id, first_offset, offset, stable)

    # -- questions ----------------------------------------------------------------------------------------------------

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """The smallest offset of a transaction that is open, or whose marker has not reached the high watermark."""
        if not self._open and not self._completed:
            return None
        if self._completed:
            self._completed = {first: end for first, end in self._completed.items() if end >= high_watermark}
        first = next(iter(self._open), None)
        completed = min(self._completed, default=None)
        if first is None or completed is None:
            return completed if first is None else first
        return min(first, completed)

    @property
    def has_open_transactions(self) -> bool:
        return bool(self._open)

    def has_open_transaction(self, producer_id: int) -> bool:
        producer = self.by_id.get(producer_id)
        return producer is not None and producer.transaction_offset >= 0

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers that were silent for long and have no open transaction."""
        expired = [
            producer.producer_id
            for producer in self.by_id.values()
            if producer.transaction_offset < 0 and now_ms - producer.last_timestamp >= expiration_ms
        ]
        for producer_id in expired:
            del self.by_id[producer_id]

    def restore(self, producers: Iterable[Producer]) -> None:
        """Begin with what a snapshot held."""
        self.by_id = {producer.producer_id: producer for producer in producers}
        opened = [(p.transaction_offset, p.producer_id) for p in self.by_id.values() if p.transaction_offset >= 0]
        self._open = dict(sorted(opened))
        self._completed = {}
