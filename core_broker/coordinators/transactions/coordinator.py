"""The transaction coordinator: which shard answers for a transactional id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.records.transaction_state import KEYS, VALUES
from core_broker.coordinators.internal_topic import InternalTopic
from core_broker.coordinators.shard import Schema, Shard
from core_broker.coordinators.timers import LoopTimers
from core_broker.coordinators.transactions.shard_state import TransactionShardState

if TYPE_CHECKING:
    from core_broker.broker import Broker

TRANSACTIONS_TOPIC: Final = "__transaction_state"


class TransactionCoordinator:
    """Owned by the event loop."""

    def __init__(self, broker: Broker) -> None:
        settings = broker.settings
        self._broker = broker
        self.timers = LoopTimers(broker.loop)
        self.topic: InternalTopic[TransactionShardState] = InternalTopic(
            broker,
            TRANSACTIONS_TOPIC,
            settings.integer("transaction.state.log.num.partitions"),
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "segment.bytes": str(settings.integer("transaction.state.log.segment.bytes")),
            },
            Schema(KEYS, VALUES),
            self._new_state,
        )

    def _new_state(self, shard: Shard[TransactionShardState]) -> TransactionShardState:
        return TransactionShardState(shard, self.timers, self._broker.clock_ms)

    def start(self) -> None:
        self.topic.follow()

    def close(self) -> None:
        self.topic.close()

    def topics_changed(self) -> None:
        self.topic.follow()
