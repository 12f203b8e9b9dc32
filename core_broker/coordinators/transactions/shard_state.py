"""The transactional ids of one partition of the transaction topic."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.wire.struct import Message
from core_broker.coordinators.shard import Shard
from core_broker.coordinators.timers import Timers


class TransactionShardState:
    def __init__(self, shard: Shard[TransactionShardState], timers: Timers, clock_ms: Callable[[], int]) -> None:
        self._shard = shard
        self._timers = timers
        self._clock_ms = clock_ms

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """Applies a record."""

    def replay_marker(self, producer_id: int, commits: bool) -> None:
        """Ends a transaction."""

    def activate(self) -> None:
        """Starts the timers of transactions."""

    def deactivate(self) -> None:
        """Stops them."""
