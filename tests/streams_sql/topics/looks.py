"""SELECT without EMIT over topics of a broker, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.bounded.pages import Budget
from streams_sql.engine.client_queries.resolution import Resolution, ResolvedQuery
from streams_sql.engine.client_queries.results import Result, ScanMetrics
from streams_sql.engine.client_queries.scans import Scans
from streams_sql.formats.serde import RegistryAccess
from streams_sql.plan.bounded import ScanPlan
from streams_sql.topics.schemas import TopicSchemas
from tests.streams_sql.analysis.catalogues import Sources, query_of, sources

NOW_MS = 2_000_000


@dataclass
class Look:
    """What came of a query."""

    result: Result
    rows: list[tuple[Any, ...]]
    metrics: ScanMetrics

    @property
    def columns(self) -> list[str]:
        return [str(column) for column in self.result.columns]


@dataclass
class Looks:
    address: str
    registry_url: str = ""
    statements: Iterable[str] = ()
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        settings = {"bootstrap.servers": self.address}
        registry = RegistryAccess(self.registry_url) if self.registry_url else None
        self.catalogue: Sources = sources(*self.statements)
        self.schemas = TopicSchemas(settings, registry)
        self.resolution = Resolution(Admin(settings), self.schemas)
        self.scanning = Scans(settings, registry, self.budget, 10, lambda: NOW_MS)

    def resolved(self, text: str) -> ResolvedQuery:
        return asyncio.run(self.resolution.resolved(query_of(text), self.catalogue))

    def plan(self, text: str) -> ScanPlan:
        return self.scanning.plan(self.resolved(text))

    def look(self, text: str) -> Look:
        return asyncio.run(self._look(text))

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        return self.look(text).rows

    async def _look(self, text: str) -> Look:
        resolved = await self.resolution.resolved(query_of(text), self.catalogue)
        result = self.scanning.start(resolved, text)
        try:
            rows = [row async for batch in result.batches for row in batch.rows]
        finally:
            await result.close()
        assert result.metrics is not None
        return Look(result, rows, result.metrics())
