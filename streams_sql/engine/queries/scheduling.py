"""How a new query is run: from where in its topics, and in batches or in real-time mode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.queries.query_settings import (
    OFFSET_RESET,
    REAL_TIME,
    SPARK_PREFIX,
    QuerySettings,
    guarantee,
    plain_name,
    starting_offsets,
    wants_real_time,
)
from streams_sql.formats.serde import RegistryAccess
from streams_sql.plan.nodes import Node, reads_of
from streams_sql.problem import SqlProblem
from streams_sql.spark.driver.messages import Guarantee
from streams_sql.spark.driver.slots import NoSlots, slots
from streams_sql.spark.jobs.native_plans import Lowering, NotNative, native_plan
from streams_sql.spark.sources.positions import LATEST, positions_text

SESSION_PREFIX: Final = "spark.sql."
"""Of settings of Spark's that one query can have by itself."""
WRITE_TIME_WARNING: Final = (
    "In real-time mode Spark writes the records itself: their timestamps are the times at which they are written, not the ROWTIME of the "
    "rows."
)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """`check_slots` raises NoSlots where Spark has no room for a query of this id with so many slots."""

    admin: Admin
    registry: RegistryAccess | None
    settings: QuerySettings
    check_slots: Callable[[str, int], None]

    async def check(self, query: PersistentQuery) -> None:
        """SqlProblem where a query cannot be run as the session that makes it asks for."""
        found = self.settings.overridden(query.properties)
        starting_offsets(found)
        self.settings.trigger(found)
        for name in query.properties:
            if plain_name(name).startswith(SPARK_PREFIX) and not plain_name(name).startswith(SESSION_PREFIX):
                raise SqlProblem(
                    f"{name} holds for all of Spark, and cannot be set for one query: set it where the server is started. Only settings "
                    f"that begin with {SESSION_PREFIX} can be set here."
                )
        reason = await self._obstacle(query, found) if _is_asked_for(query) else None
        if reason is not None:
            raise SqlProblem(
                f"The query cannot run in real-time mode: {reason}. Spark runs only what needs neither Python nor state in that mode. Set "
                f"'{REAL_TIME}' to 'false' to run it in batches."
            )

    async def scheduled(self, command: Command, query: PersistentQuery, former: PersistentQuery | None) -> Command:
        """The command with what is found out of its query, whose topics are there by now. A query in place of a `former` one goes on
        where that was. SqlProblem, StoreFailure."""
        found = self.settings.overridden(query.properties)
        positions = await self._positions(query, found) if former is None else former.positions
        command = replace(command, positions=positions)
        if not wants_real_time(found):
            return command
        reason = await self._obstacle(query, found)
        if reason is not None:
            return replace(command, why_batches=reason)
        wanted = await self._slots(query)
        try:
            self.check_slots(query.id, wanted)
        except NoSlots as problem:
            if _is_asked_for(query):
                raise SqlProblem(f"The query cannot run in real-time mode: {problem}") from None
            return replace(command, why_batches=str(problem))
        return replace(command, slots=wanted)

    def rebuilding(self, command: Command, former: PersistentQuery) -> Command:
        """The command of a query that is built in the place of a former one: it begins where that has begun, and in topics that it alone
        reads at the beginning. It runs in batches, whose ends are known."""
        is_asked = wants_real_time(self.settings.overridden(command.properties))
        why_batches = "it was built in the place of another query" if is_asked else None
        return replace(command, positions=former.positions or positions_text({}), why_batches=why_batches)

    async def _obstacle(self, query: PersistentQuery, found: Mapping[str, str]) -> str | None:
        """Why a query cannot run in real-time mode; None if it can."""
        if guarantee(found) is Guarantee.EXACTLY_ONCE:
            return "it is to write exactly once, and Spark's own writer writes at least once"
        try:
            # The registry may have to be asked.
            await asyncio.to_thread(native_plan, query.plan, Lowering(self.registry, is_trial=True))
        except NotNative as reason:
            return str(reason)
        return None

    async def _slots(self, query: PersistentQuery) -> int:
        partitions = {}
        for read in reads_of(query.plan.node):
            topic = read.source.topic
            partitions[topic] = await self.admin.partition_count(topic) or 1
        trigger = self.settings.real_time_trigger(self.settings.overridden(query.properties))
        return slots(query.plan, trigger, partitions)

    async def _positions(self, query: PersistentQuery, found: Mapping[str, str]) -> str | None:
        """The ends of the streams that are read from now on: what is written behind them is read, however long Spark takes to start.
        Tables are read from their beginnings, unless the session asks for the end."""
        if starting_offsets(found) != LATEST:
            return None
        is_asked = any(plain_name(name) == OFFSET_RESET for name in query.properties)
        return await ends_now(self.admin, query.plan.node, with_tables=is_asked)


async def ends_now(admin: Admin, node: Node, *, with_tables: bool) -> str:
    """The ends of the topics that a plan reads, as positions to begin at; those that are not named are read from their beginnings.
    StoreFailure."""
    ends: dict[str, tuple[str, Mapping[int, int]]] = {}
    for read in reads_of(node):
        topic = read.source.topic
        layout = None if read.source.is_table and not with_tables else await admin.layout(topic)
        if layout is not None and layout.replicas:
            ends[topic] = (layout.id, await admin.ends(topic, range(len(layout.replicas))))
    return positions_text(ends)


def _is_asked_for(query: PersistentQuery) -> bool:
    """By the session itself, and not by the server for whatever can."""
    asked = {plain_name(name): text for name, text in query.properties.items()}
    return wants_real_time(asked)
