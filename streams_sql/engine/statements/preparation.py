"""What has to be there before a command is written, and what goes after one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import missing_schema
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import CatalogueChange, sources_of
from streams_sql.engine.catalogue.command import LOWERING, Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.catalogue.schema_texts import schema_texts
from streams_sql.engine.queries.scheduling import Scheduler
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.engine.statements.source_topics import SourceTopics
from streams_sql.formats.inference import infer_schema
from streams_sql.formats.registration import forget_schemas, register_schemas
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.statements import CreateAsSelect, CreateSource, DropSource, InsertSelect, Kind
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source

QUERY_PREFIXES: Final = {Kind.STREAM: "CSAS", Kind.TABLE: "CTAS"}


@dataclass(frozen=True, slots=True)
class Preparation:
    topics: SourceTopics
    registry: RegistryAccess | None
    defaults: Defaults
    scheduling: Scheduler
    functions: FunctionRules

    async def command(
        self, statement: CatalogueChange, text: str, properties: Mapping[str, str], number: int, catalogue: Catalogue
    ) -> Command:
        """The command of a statement, with the columns that the registry has where it declares none. SqlProblem."""
        command = new_command(statement, text, properties, number, catalogue)
        if not isinstance(statement, CreateSource):
            return command
        return replace(command, schema=await self._looked_up(statement, properties))

    async def check(self, outcome: Outcome) -> None:
        """SqlProblem where a query that a statement would start cannot be run as it asks for, or a function cannot be called."""
        if outcome.function is not None:
            await self.functions.check_code(outcome.function)
        if outcome.started is not None:
            self.functions.check(outcome.started.plan)
            await self.scheduling.check(outcome.started)

    async def scheduled(self, command: Command, outcome: Outcome, catalogue: Catalogue) -> Command:
        """The command with how its query is run, once all that it reads is there. SqlProblem, StoreFailure."""
        query = outcome.started
        if query is None:
            return command
        if query.rebuilds is not None:
            command = replace(command, query_id=query.id, rebuilds=query.rebuilds, is_of_stream=query.is_follower)
            return self.scheduling.rebuilding(command, catalogue.queries[query.rebuilds])
        return await self.scheduling.scheduled(command, query, catalogue.queries.get(query.id))

    async def provide(self, statement: CatalogueChange, outcome: Outcome, former: Source | None) -> tuple[str, ...]:
        """Provide topic and schemas of a source that is about to be created in place of a `former` one, if there is one. Return warnings.
        SqlProblem."""
        made = outcome.made
        started = outcome.started
        if started is not None and started.rebuilds is not None:
            if started.plan.shadow is not None:
                await self.topics.provide_shadow(started.plan.sink, started.plan.shadow)
            await asyncio.to_thread(register_schemas, started.plan.sink, self.registry)
        if made is None or not isinstance(statement, CreateSource | CreateAsSelect):
            return ()
        query = outcome.started
        reads = None if query is None else next(sources_of(query.plan.node)).topic
        has_existed = await self.topics.provide(statement, made, reads)
        if query is not None or former is None:
            await asyncio.to_thread(register_schemas, made, self.registry)
        is_new_query = has_existed and query is not None and former is None
        return await self.topics.earlier_rows_warning(made) if is_new_query else ()

    async def clean_up(self, statement: CatalogueChange, outcome: Outcome) -> None:
        """DELETE TOPIC takes the schemas along. What a query that was being built has written is of no use without it."""
        for query in outcome.ended:
            if query.plan.shadow is not None:
                await self.topics.delete(query.plan.shadow)
        dropped = outcome.dropped
        if dropped is not None and isinstance(statement, DropSource) and statement.delete_topic:
            await self.topics.delete(dropped.topic)
            await asyncio.to_thread(forget_schemas, dropped, self.registry)

    async def _looked_up(self, statement: CreateSource, properties: Mapping[str, str]) -> Mapping[str, str]:
        missing = missing_schema(statement, self.defaults.overridden(properties))
        if missing is None:
            return {}
        if self.registry is None:
            raise SqlProblem(
                f"{statement.name} has no columns for its "
                f"{'key' if missing.value is None else 'value'}, and no schema registry is configured that could know them: "
                "declare the columns, or set ksql.schema.registry.url."
            )
        found = await asyncio.to_thread(infer_schema, missing, self.registry)
        return schema_texts(found)


def new_command(
    statement: CatalogueChange, text: str, properties: Mapping[str, str], number: int, catalogue: Catalogue
) -> Command:
    """`number` is that of the next command, and makes the id of a query, unless that takes the place of another. SqlProblem."""
    if isinstance(statement, CreateSource | CreateAsSelect) and statement.or_replace:
        _check_replaced(statement, catalogue)
    match statement:
        case CreateAsSelect():
            former = catalogue.made_by(statement.name) if statement.or_replace else None
            query_id = f"{QUERY_PREFIXES[statement.kind]}_{statement.name}_{number}"
            if former is None:
                return Command(text, properties, query_id=query_id, lowering=LOWERING)
            return Command(text, properties, query_id=former.id, lowering=LOWERING, spare_id=query_id)
        case InsertSelect():
            query_id = _given_id(statement) or f"INSERTQUERY_{number}"
            return Command(text, properties, query_id=query_id, lowering=LOWERING)
        case _:
            return Command(text, properties)


def _check_replaced(statement: CreateSource | CreateAsSelect, catalogue: Catalogue) -> None:
    found = catalogue.source(statement.name)
    is_source = isinstance(statement, CreateSource) and statement.is_source
    if is_source or (found is not None and found.is_read_only):
        kind, name = statement.kind.value.lower(), statement.name
        raise SqlProblem(
            f"Cannot add {kind} '{name}': CREATE OR REPLACE is not supported on source {kind}s. Use DROP {kind.upper()} and CREATE.",
            statement.position,
        )


def _given_id(statement: InsertSelect) -> str | None:
    given = statement.properties.get("QUERY_ID")
    return None if given is None else str(given.value).upper()


def check_query_id(statement: CatalogueChange, command: Command, catalogue: Catalogue) -> None:
    if isinstance(statement, CreateAsSelect) and statement.or_replace:
        return
    if command.query_id is not None and command.query_id in catalogue.queries:
        raise SqlProblem(f"Query ID '{command.query_id}' already exists. Give another QUERY_ID, or none.")
