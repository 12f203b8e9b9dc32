"""Whether a reader of topics keeps up with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from streams_sql.progress.backlog import Backlog, Positions, Ranges, partition_backlogs

LAG_S: Final = 5.0
"""Records that are older and not read yet make a reader incomplete. Batches take less as long as a query keeps up."""
IDLE_DELAY_S: Final = 0.2
"""The longest time between the moment at which Spark finds nothing to read and its report."""


class CatchUp:
    """One reader, a query or a view. It is complete while it has read what was in its topics `lag_s` ago, or at the first look: so it is
    incomplete from its start until it has caught up for the first time, and again when it lags. Positions must be reported after what
    was made of the records has been written."""

    def __init__(self, topics: Iterable[str], lag_s: float = LAG_S) -> None:
        self.topics = frozenset(topics)
        self.backlog: Backlog | None = None
        self._lag_s = lag_s
        self._positions: Positions | None = None
        self._seen: Positions | None = None
        self._has_held = False
        self._has_seen_held = False
        self._were_inputs_complete = False
        self._looks: deque[tuple[float, Ranges]] = deque()

    @property
    def is_complete(self) -> bool:
        return self.backlog is not None and self.backlog.is_complete

    def report(self, positions: Positions, *, has_held: bool = False) -> None:
        """`has_held`: some of what was read waits for records of other partitions, and nothing was made of it yet."""
        self._positions = positions
        self._has_held = has_held

    def report_idle(self, now_s: float) -> None:
        """It has found nothing more to read: it has read what earlier looks have found."""
        earlier = [ranges for at_s, ranges in self._looks if at_s < now_s - IDLE_DELAY_S]
        if earlier:
            self._positions = {
                topic: {partition: end for partition, (_, end) in partitions.items()}
                for topic, partitions in earlier[-1].items()
            }

    def begin_look(self) -> None:
        """Called before the ranges of topics are read: what is written up to the present positions is in them."""
        self._seen, self._has_seen_held = self._positions, self._has_held

    def end_look(self, ranges: Ranges, now_s: float, *, are_inputs_complete: bool) -> None:
        """`are_inputs_complete`: the queries that write to its topics are. A look without one of its topics says nothing."""
        if not self.topics <= ranges.keys():
            return
        own = {topic: ranges[topic] for topic in self.topics}
        if not (are_inputs_complete and self._were_inputs_complete):
            # The last rows of its inputs were written by the batch that completed them, and are in this look.
            self._looks.clear()
        self._were_inputs_complete = are_inputs_complete
        self._looks.append((now_s, own))
        while len(self._looks) > 1 and self._looks[1][0] <= now_s - self._lag_s:
            self._looks.popleft()
        seen = self._seen or {}
        has_read = not any(each.behind for each in partition_backlogs(seen, self._looks[0][1], self.topics))
        is_complete = are_inputs_complete and has_read and not self._has_seen_held
        partitions = partition_backlogs(seen, own, self.topics)
        self.backlog = Backlog(partitions, self._seen is not None, is_complete, self._has_seen_held)
