"""Combine the parts that answer SELECT and PRINT."""

from __future__ import annotations

from streams_sql.assembly.engine_context import EngineContext
from streams_sql.engine.client_queries.client_queries import ClientQueries
from streams_sql.engine.client_queries.printing import PrintQueries
from streams_sql.engine.client_queries.pull_queries import PullQueries
from streams_sql.engine.client_queries.push_jobs import PushJobs
from streams_sql.engine.client_queries.push_queries import PushQueries
from streams_sql.engine.client_queries.resolution import Resolution
from streams_sql.engine.client_queries.scans import Scans
from streams_sql.engine.client_queries.table_views import TableViews
from streams_sql.engine.queries.completeness import Completeness
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.spark.driver.process import Driver
from streams_sql.topics.schemas import TopicSchemas


def client_queries(
    context: EngineContext,
    driver: Driver,
    queries: PersistentQueries,
    views: TableViews,
    completeness: Completeness,
    host: str,
) -> ClientQueries:
    own, catalogue, client, registry = context.own, context.catalogue, context.client, context.registry
    pulls_max = own.settings.integer("ksql.query.pull.max.concurrent.requests")
    pushes = own.pushes(client)
    jobs = PushJobs(pushes, context.admin, driver, own.queries, host)
    return ClientQueries(
        catalogue,
        context.sessions,
        Resolution(context.admin, TopicSchemas(client, registry)),
        PullQueries(views.views, views.follower, catalogue, own.budget, pulls_max, queries, completeness.notes),
        PushQueries(pushes, jobs, own.queries, context.errors),
        Scans(client, registry, own.budget, pulls_max),
        PrintQueries(context.admin, client, registry, pushes.queries_max),
        own.functions,
        completeness.notes,
    )
