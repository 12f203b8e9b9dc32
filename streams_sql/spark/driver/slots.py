"""Task slots: Spark starts a query that has none without a word, and it then waits for ever."""

from __future__ import annotations

from collections.abc import Mapping

from streams_sql.plan.nodes import PersistentPlan, reads_of
from streams_sql.spark.driver.masters import slots_of
from streams_sql.spark.driver.messages import Trigger


class NoSlots(Exception):
    """A query that Spark has no room for; the message says what to do."""


class SlotCount:
    """The slots of a Spark, and the queries that hold them."""

    def __init__(self, master: str) -> None:
        self.available = slots_of(master)
        self._held: dict[str, int] = {}

    def take(self, query_id: str, wanted: int) -> None:
        self.check(query_id, wanted)
        self._held[query_id] = wanted

    def check(self, query_id: str, wanted: int) -> None:
        """NoSlots if they do not fit. One slot must stay free: batches of other queries need it to get on."""
        held = sum(count for holder, count in self._held.items() if holder != query_id)
        if wanted and self.available is not None and held + wanted >= self.available:
            raise NoSlots(
                f"Query {query_id} holds {wanted} of Spark's {self.available} task slots all the time, and other queries hold "
                f"{held}; one must stay free. Give Spark more (--spark-master local[N]) or let a query run in batches."
            )

    def give_back(self, query_id: str) -> None:
        self._held.pop(query_id, None)


def slots(plan: PersistentPlan, trigger: Trigger, partitions: Mapping[str, int]) -> int:
    """The slots that a query holds all the time: in real-time mode one for each partition it reads, else none: a batch takes what is
    free and gives it back."""
    return sum(partitions[read.source.topic] for read in reads_of(plan.node)) if trigger.is_real_time else 0
