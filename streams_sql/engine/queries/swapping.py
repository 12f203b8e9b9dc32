"""A query that was built in the place of another one takes it: both are stopped, and a command makes it the query of the table or stream.

In between, the rows of a table are brought over into its topic. The query of a stream is stopped first, and the one that follows it when it
is exactly as far: what one has read is written, and the other writes what is behind that.

Whatever ends this in the middle, it can be done again: until the command is written the former query is the source's, and goes on; what of
a table's rows was brought over is compared again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.command_log import CommandLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.rebuilding import SHADOW
from streams_sql.engine.queries.table_copy import bring_over
from streams_sql.engine.statements.source_topics import SourceTopics
from streams_sql.problem import SqlProblem

STOP_DEADLINE_S: Final = 60.0
"""How long the two queries may take to end their batches."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QuerySwap:
    """`settings` are those of Kafka's clients; `prefix` begins the names of transactions. `end_stopped` returns when all queries that were
    stopped have ended. `run_queries` runs what the catalogue has."""

    catalogue: Catalogue
    commands: CommandLog
    queries: PersistentQueries
    topics: SourceTopics
    settings: Mapping[str, Any]
    prefix: str
    end_stopped: Callable[[float], Awaitable[None]]
    run_queries: Callable[[], None]

    async def swap(self, query_id: str) -> bool:
        """False where it could not be done, which becomes a note of the query."""
        query = self.catalogue.queries.get(query_id)
        if query is None or query.rebuilds is None or query.is_paused:
            return True
        shadow, problem = query.plan.shadow, None
        try:
            if shadow is None:
                await self._settle(query, query.rebuilds)
            else:
                self.queries.hold((query.id, query.rebuilds))
                await self.end_stopped(STOP_DEADLINE_S)
                await self._bring_over(query, shadow)
            await self.commands.append(
                Command(query.statement, query_id=query.id, is_swap=True, is_of_stream=query.is_follower)
            )
            if shadow is not None:
                await self.topics.delete(shadow)
        except (KafkaException, SqlProblem, StoreFailure, Superseded) as error:
            problem = f"It could not take the place of {query.rebuilds}: {error}"
        finally:
            self.queries.hold(())
            self.run_queries()
        if problem is not None:
            self.queries.note(query.id, problem)
        return problem is None

    async def _settle(self, query: PersistentQuery, former: str) -> None:
        """SqlProblem where the query is not as far as the former one."""
        self.queries.hold((former,))
        await self.end_stopped(STOP_DEADLINE_S)
        self.queries.settle(query.id)
        await self.end_stopped(STOP_DEADLINE_S)
        reason = self.queries.unsettled(query.id)
        if reason is not None:
            raise SqlProblem(reason)
        _logger.info("query %s takes the place of %s", query.id, former)

    async def _bring_over(self, query: PersistentQuery, shadow: str) -> None:
        name, topic = f"{self.prefix}swap_{query.id}", query.plan.sink.topic
        brought = await asyncio.to_thread(bring_over, self.settings, shadow, topic, name)
        _logger.info(
            "query %s takes the place of %s: %d rows of %s are others, %d are no more",
            query.id, query.rebuilds, brought.rows, topic, brought.deleted,
        )  # fmt: skip

    async def sweep(self) -> None:
        """Delete topics of queries that are built no more: a server may have died before it could. StoreFailure."""
        wanted = {query.plan.shadow for query in self.catalogue.queries.values()}
        for topic in await self.topics.names():
            if topic.startswith(self.prefix + SHADOW) and topic not in wanted:
                await self.topics.delete(topic)
