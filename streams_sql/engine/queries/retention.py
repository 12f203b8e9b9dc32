"""Queries whose rows are older than the retention of the topic that they write to."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure
from streams_sql.bounded.pages import BudgetSpent
from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.failures import EngineError
from streams_sql.engine.queries.query_settings import QuerySettings, starting_offsets
from streams_sql.evaluation.time_texts import timestamp_text
from streams_sql.plan.nodes import reads_of
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source
from streams_sql.spark.sources.positions import LATEST

POLICY: Final = "cleanup.policy"
RETENTION: Final = "retention.ms"
TIMESTAMPS: Final = "message.timestamp.type"
"""Settings of topics."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """The time before which a topic keeps no record, by its retention.ms."""

    topic: str
    retention_ms: int
    first_ms: int

    @property
    def text(self) -> str:
        return f"retention.ms={self.retention_ms} of topic {self.topic}, before {timestamp_text(self.first_ms)}"

    @property
    def advice(self) -> str:
        return f"Raise {RETENTION} of {self.topic}, or give the query RETENTION_MS in WITH; -1 keeps all."


class RetentionCheck:
    """`sample` returns the earliest ROWTIME among the first records of a stream, None where it has none."""

    def __init__(
        self,
        admin: Admin,
        settings: QuerySettings,
        sample: Callable[[Source], Awaitable[int | None]],
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._admin = admin
        self._settings = settings
        self._sample = sample
        self._now_ms = now_ms

    async def warnings(self, query: PersistentQuery) -> tuple[str, ...]:
        """Of a query whose topics exist. Nothing fails for want of a warning."""
        try:
            retention = None if query.is_real_time else await self._retention(query.plan.target)
            if retention is None:
                return ()
            written = await self._written(query, retention)
            return (written,) if written else await self._to_write(query, retention)
        except (StoreFailure, EngineError, SqlProblem, BudgetSpent) as problem:
            _logger.debug("the retention of %s could not be compared: %s", query.plan.target, problem)
            return ()

    async def _retention(self, topic: str) -> Retention | None:
        """None where records stay, or have the time at which they were written."""
        settings = await self._admin.topic_settings(topic)
        retention_ms = int(settings.get(RETENTION, "-1"))
        is_by_append = settings.get(TIMESTAMPS) == "LogAppendTime"
        if "delete" not in settings.get(POLICY, "delete") or retention_ms < 0 or is_by_append:
            return None
        return Retention(topic, retention_ms, self._now_ms() - retention_ms)

    async def _written(self, query: PersistentQuery, retention: Retention) -> str | None:
        """Of rows that the query has written, where all of them are too old."""
        ends, kept = await self._kept(retention.topic, retention)
        if not ends or kept:
            return None
        return f"The {ends} rows of {query.writes} are deleted, or will be soon: they are older than {retention.text}. {retention.advice}"

    async def _to_write(self, query: PersistentQuery, retention: Retention) -> tuple[str, ...]:
        if starting_offsets(self._settings.overridden(query.properties)) == LATEST or query.plan.sink.timestamp:
            # The records that are there already are not read, or their rows have other times.
            return ()
        streams = {each.source.topic: each.source for each in reads_of(query.plan.node) if not each.source.is_table}
        found = [await self._old_records(source, query, retention) for source in streams.values()]
        return tuple(text for text in found if text)

    async def _old_records(self, source: Source, query: PersistentQuery, retention: Retention) -> str | None:
        if source.timestamp is not None:
            return await self._old_sample(source, query, retention)
        total, kept = await self._kept(source.topic, retention, with_deleted=False)
        if total <= kept:
            return None
        return (
            f"{total - kept} of {total} records of {source.name} are older than {retention.text}: the rows that {query.writes} gets from "
            f"them are deleted soon after they are written. {retention.advice}"
        )

    async def _old_sample(self, source: Source, query: PersistentQuery, retention: Retention) -> str | None:
        """The broker does not know the times of rows that have theirs from a column."""
        earliest_ms = await self._sample(source)
        if earliest_ms is None or earliest_ms >= retention.first_ms:
            return None
        return (
            f"{source.name} has rows that are older than {retention.text} ({timestamp_text(earliest_ms)} is one of the first): the rows "
            f"that {query.writes} gets from them are deleted soon after they are written. {retention.advice}"
        )

    async def _kept(self, topic: str, retention: Retention, *, with_deleted: bool = True) -> tuple[int, int]:
        """How many records a topic has (or had), and how many of them are behind the first that is young enough."""
        ranges = (await self._admin.ranges([topic])).get(topic, {})
        young = await self._admin.offsets_at(topic, ranges, retention.first_ms) if ranges else {}
        total = sum(end if with_deleted else end - start for start, end in ranges.values())
        kept = sum(
            end - max(start, at) for partition, (start, end) in ranges.items() if (at := young[partition]) is not None
        )
        return total, kept
