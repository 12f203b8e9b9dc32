"""What the cleaner knows of transactions while it goes through a log: which data was aborted, and which markers are still needed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from barnabas.wire.batch import BatchHeader
from core_broker.log.marker import read_marker
from core_broker.log.transaction_index import AbortedTransaction


class _Aborted:
    __slots__ = ("has_data", "transaction")

    def __init__(self, transaction: AbortedTransaction) -> None:
        self.transaction = transaction
        self.has_data = False


class CleanedTransactions:
    """One pass over a log below its last stable offset, in order: every transaction that it meets has been decided."""

    def __init__(self) -> None:
        self._committed: set[int] = set()  # producers in the middle of a transaction that commits
        self._aborted: dict[int, _Aborted] = {}  # the same for those that abort
        self._ahead: list[tuple[int, AbortedTransaction]] = []
        self.kept: list[AbortedTransaction] = []  # what the index must still tell, until `take_kept`

    def add_aborted(self, transactions: Iterable[AbortedTransaction]) -> None:
        """Announce transactions that abort. They must be known before the pass meets their first batch."""
        for transaction in transactions:
            heapq.heappush(self._ahead, (transaction.first_offset, transaction))

    def take_kept(self) -> list[AbortedTransaction]:
        kept, self.kept = self.kept, []
        return kept

    def meet_data(self, header: BatchHeader) -> bool:
        """Pass a batch of records; True if they were aborted, so that nobody needs them."""
        self._advance(header.last_offset)
        if not header.is_transactional:
            return False
        aborted = self._aborted.get(header.producer_id)
        if aborted is None:
            self._committed.add(header.producer_id)
            return False
        aborted.has_data = True
        return True

    def meet_control(self, header: BatchHeader, batch: memoryview) -> bool:
        """Pass a control batch; True if it is the marker of a transaction of which no record is left."""
        self._advance(header.last_offset)
        if header.record_count == 0:
            return True  # only its header was kept, by an earlier pass
        marker = read_marker(batch)
        if marker is None:
            return False  # not about a transaction
        if marker.commits:
            if header.producer_id in self._committed:
                self._committed.remove(header.producer_id)
                return False
            return True
        aborted = self._aborted.pop(header.producer_id, None)
        if aborted is None or not aborted.has_data:
            return True
        self.kept.append(aborted.transaction)
        return False

    def _advance(self, offset: int) -> None:
        while self._ahead and self._ahead[0][0] <= offset:
            _, transaction = heapq.heappop(self._ahead)
            # A transaction is announced for every segment that it touches; the first time counts.
            self._aborted.setdefault(transaction.producer_id, _Aborted(transaction))
