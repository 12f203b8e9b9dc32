"""Sources for views, and what is asked of them in SQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from streams_sql.analysis.pull import plan_pull
from streams_sql.bounded.pages import Budget
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Kind, Query
from streams_sql.plan.nodes import PullPlan
from streams_sql.sources import Column, FormatUse, Schema, Source
from streams_sql.sql_types import STRING, SqlType
from streams_sql.views.prepared import PreparedPulls
from streams_sql.views.views import Views

CATCH_UP_S = 90.0
WATCH_INTERVAL_S = 0.1


def table(topic: str, value: Mapping[str, SqlType], key: Mapping[str, SqlType] | None = None) -> Source:
    schema = Schema(
        tuple(Column(name, type_) for name, type_ in (key or {"K": STRING}).items()),
        tuple(Column(name, type_) for name, type_ in value.items()),
    )
    key_format = FormatUse("KAFKA" if len(schema.key) == 1 else "JSON")
    return Source("T", Kind.TABLE, schema, topic, key_format, FormatUse("JSON"), "")


def stream(topic: str, value: Mapping[str, SqlType]) -> Source:
    return replace(table(topic, value), name="S", kind=Kind.STREAM)


def plan_of(text: str, catalogue: Catalogue) -> PullPlan:
    statement = parse_statement(text)
    assert isinstance(statement, Query)
    plan = plan_pull(statement, catalogue)
    assert isinstance(plan, PullPlan)
    return plan


NO_INDEXES: frozenset[str] = frozenset()


def no_indexes(_: Source) -> frozenset[str]:
    return NO_INDEXES


def prepared_pulls(catalogue: Catalogue) -> PreparedPulls:
    return PreparedPulls(lambda text: plan_of(text, catalogue), catalogue.source, no_indexes)


@asynccontextmanager
async def opened(folder: Path, address: str, *sources: Source) -> AsyncIterator[Views]:
    """Views of the tables among the sources, caught up with their topics."""
    views = Views(folder, {"bootstrap.servers": address}, watch_interval_s=WATCH_INTERVAL_S)
    await views.start()
    try:
        await views.follow([source for source in sources if source.is_table])
        async with asyncio.timeout(CATCH_UP_S):
            for status in views.status():
                view = views.view(status.name)
                assert view is not None
                await view.progress.catch_up()
        yield views
    finally:
        await views.stop()


async def asked(views: Views, source: Source, text: str, budget: Budget | None = None) -> list[tuple[Any, ...]]:
    """The rows of a pull query."""
    catalogue = Catalogue({source.name: source})
    statement = parse_statement(text)
    assert isinstance(statement, Query)
    ready = prepared_pulls(catalogue).learn(text, plan_pull(statement, catalogue))
    async with aclosing(views.pull(ready, budget)) as pages:
        return [row async for page in pages for row in page]
