"""ASSERT: what is to be there, or gone, within a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.engine.failures import AssertionFailed
from streams_sql.engine.statements.entities import SchemaAssertion, TopicAssertion
from streams_sql.formats.registered import NOT_FOUND, registry_client
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.external_statements import (
    AssertSchema,
    AssertTopic,
)
from streams_sql.problem import SqlProblem

RETRY_S: Final = 0.1
TIMEOUT_MAX_MS: Final = 600_000
MS_PER_S: Final = 1000


@dataclass(frozen=True, slots=True)
class Assertions:
    """The times are for statements that have none of their own."""

    admin: Admin
    registry: RegistryAccess | None
    topic_timeout_ms: int
    schema_timeout_ms: int

    def check(self, statement: AssertTopic | AssertSchema) -> None:
        """SqlProblem where it could never be carried out."""
        if (statement.timeout_ms or 0) > TIMEOUT_MAX_MS:
            raise SqlProblem(
                f"A TIMEOUT of {statement.timeout_ms} ms is too long: it may be {TIMEOUT_MAX_MS} ms at most."
            )
        if isinstance(statement, AssertSchema):
            registry_client(self.registry, "of ASSERT SCHEMA")

    async def topic(self, statement: AssertTopic) -> TopicAssertion:
        """AssertionFailed with what is otherwise when the time is over."""
        timeout_ms = self.topic_timeout_ms if statement.timeout_ms is None else statement.timeout_ms
        await _hold(lambda: self._topic_problem(statement), timeout_ms)
        return TopicAssertion(statement.topic, statement.exists)

    async def schema(self, statement: AssertSchema) -> SchemaAssertion:
        """The same."""
        timeout_ms = self.schema_timeout_ms if statement.timeout_ms is None else statement.timeout_ms
        await _hold(lambda: asyncio.to_thread(self._schema_problem, statement), timeout_ms)
        return SchemaAssertion(statement.subject, statement.id, statement.exists)

    async def _topic_problem(self, statement: AssertTopic) -> str | None:
        try:
            layout = await self.admin.layout(statement.topic)
        except StoreFailure as failure:
            return f"Cannot check topic existence: {failure}"
        if layout is None:
            return f"Topic {statement.topic} does not exist" if statement.exists else None
        if not statement.exists:
            return f"Topic {statement.topic} exists"
        found = {"PARTITIONS": len(layout.replicas), "REPLICAS": min(layout.replicas, default=0)}
        problems = []
        for name, wanted in statement.properties.items():
            if name not in found:
                problems.append(f"Cannot assert unknown topic property: {name}")
            elif isinstance(wanted.value, bool) or wanted.value != found[name]:
                problems.append(
                    f"Mismatched configuration for topic {statement.topic}: For config {name.lower()}, expected "
                    f"{wanted.value} got {found[name]}"
                )
        return "\n".join(problems) or None

    def _schema_problem(self, statement: AssertSchema) -> str | None:
        subject = "" if statement.subject is None else f" subject name {statement.subject}"
        schema_id = "" if statement.id is None else f" id {statement.id}"
        try:
            is_there = _has(registry_client(self.registry, "of ASSERT SCHEMA"), statement)
        except RegistryClientError as problem:
            return f"Cannot check schema existence: {problem}"
        if is_there is statement.exists:
            return None
        return f"Schema with{subject}{schema_id} {'exists' if is_there else 'does not exist'}"


def _has(client: RegistryClient, statement: AssertSchema) -> bool:
    try:
        if statement.id is None:
            client.version(statement.subject or "")
        elif statement.subject is None:
            client.schema(statement.id)
        else:
            return statement.subject in client.subjects_of(statement.id)
    except RegistryClientError as problem:
        if problem.status == NOT_FOUND:
            return False
        raise
    return True


async def _hold(problem: Callable[[], Awaitable[str | None]], timeout_ms: int) -> None:
    """Look until there is no problem any more, and once at least."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + timeout_ms / MS_PER_S
    while (found := await problem()) is not None:
        if loop.time() + RETRY_S > end_s:
            raise AssertionFailed(found)
        await asyncio.sleep(RETRY_S)
