"""The persistent queries of the catalogue, which run on the server that leads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from barnabas.kernel.kafka_log.failures import StoreFailure
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.command_log import CommandLog
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.engine.queries.swap_tasks import SwapTasks
from streams_sql.engine.queries.swapping import QuerySwap
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.engine.statements.source_topics import SourceTopics
from streams_sql.spark.driver.process import Driver

RESIGN_DEADLINE_S: Final = 10.0
"""How long queries may take to end their batches when another server is to run them."""

_logger = logging.getLogger(__name__)


class QueryRunner:
    """`client` are settings of Kafka's clients, `prefix` begins the names of the server's own topics and transactions."""

    def __init__(
        self,
        catalogue: Catalogue,
        commands: CommandLog,
        driver: Driver,
        settings: QuerySettings,
        errors: ErrorLog,
        functions: FunctionRules,
        topics: SourceTopics,
        client: Mapping[str, Any],
        prefix: str,
    ) -> None:
        self._catalogue = catalogue
        self._commands = commands
        self._driver = driver
        self.queries = PersistentQueries(driver, settings, errors, functions, self._on_caught_up)
        self._swap = QuerySwap(
            catalogue, commands, self.queries, topics, client, prefix, driver.end_stopped, self._run_if_leading
        )
        self._swap_tasks = SwapTasks(self._swap_alone)
        self._sweep_task: asyncio.Task[None] | None = None
        self._is_leading = False

    def lead(self, *, are_resumed: bool) -> None:
        """Run the queries. With `are_resumed`, another server or an earlier run of this one has run them."""
        self._is_leading = True
        self.queries.reconcile(self._catalogue.queries.values(), are_resumed=are_resumed)
        self._sweep_task = asyncio.create_task(self._sweep(), name="sweep topics")

    async def resign(self) -> None:
        """Return when no query runs here any more."""
        self._is_leading = False
        self.queries.reconcile(())
        await self._driver.end_stopped(RESIGN_DEADLINE_S)

    async def stop(self) -> None:
        tasks = [*self._swap_tasks.running, *([] if self._sweep_task is None else [self._sweep_task])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def catalogue_changed(self, outcome: Outcome) -> None:
        if self._is_leading:
            for query in outcome.ended:
                self.queries.forget(query.id)
            self._run_if_leading()

    def _run_if_leading(self) -> None:
        if self._is_leading:
            self.queries.reconcile(self._catalogue.queries.values())

    def _on_caught_up(self, query_id: str) -> None:
        if self._is_leading:
            self._swap_tasks.begin(query_id)

    async def _swap_alone(self, query_id: str) -> bool:
        async with self._commands.exclusive:
            return await self._swap.swap(query_id)

    async def _sweep(self) -> None:
        try:
            await self._swap.sweep()
        except StoreFailure as failure:
            _logger.warning("topics of queries that are no longer rebuilt are not deleted: %s", failure)
