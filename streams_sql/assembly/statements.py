"""Combine the parts that execute statements."""

from __future__ import annotations

from streams_sql.assembly.engine_context import EngineContext
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command_log import CommandLog
from streams_sql.engine.catalogue.leadership import Leadership
from streams_sql.engine.client_queries.client_queries import ClientQueries
from streams_sql.engine.client_queries.table_views import TableViews
from streams_sql.engine.queries.completeness import Completeness
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.retention import RetentionCheck
from streams_sql.engine.statements.assertions import Assertions
from streams_sql.engine.statements.catalogue_statements import CatalogueStatements
from streams_sql.engine.statements.connect_client import ConnectClient
from streams_sql.engine.statements.connectors import Connectors
from streams_sql.engine.statements.descriptions import Descriptions
from streams_sql.engine.statements.execution import StatementExecutor
from streams_sql.engine.statements.explanation import Explanation
from streams_sql.engine.statements.inserts import Inserts
from streams_sql.engine.statements.listing import Listings
from streams_sql.engine.statements.preparation import Preparation
from streams_sql.views.pull_texts import PullTexts


def catalogue_statements(
    context: EngineContext,
    changes: Changes,
    commands: CommandLog,
    leadership: Leadership,
    preparation: Preparation,
    clients: ClientQueries,
) -> CatalogueStatements:
    retention = RetentionCheck(context.admin, context.own.queries, clients.scans.earliest_rowtime)
    return CatalogueStatements(
        context.catalogue, changes, commands, leadership, preparation, clients.resolution, retention
    )


def statement_executor(
    context: EngineContext,
    changes: CatalogueStatements,
    queries: PersistentQueries,
    clients: ClientQueries,
    views: TableViews,
    completeness: Completeness,
    rejection: str | None,
) -> StatementExecutor:
    own, catalogue, settings = context.own, context.catalogue, context.own.settings
    listings = Listings(
        catalogue,
        context.admin,
        queries,
        clients.pushes,
        views,
        own.shown(),
        context.errors,
        completeness.notes,
        changes.retention,
    )
    pulls = PullTexts(views.views)
    explanation = Explanation(catalogue, own.defaults, listings, queries, pulls, clients.resolution, clients.scans)
    connectors = Connectors(ConnectClient(own.connect), catalogue)
    assertions = Assertions(
        context.admin,
        own.registry,
        settings.integer("ksql.assert.topic.default.timeout.ms"),
        settings.integer("ksql.assert.schema.default.timeout.ms"),
    )
    return StatementExecutor(
        catalogue,
        context.sessions,
        changes,
        Descriptions(listings, explanation, connectors),
        connectors,
        assertions,
        Inserts(context.client, own.registry),
        own.functions,
        clients.pushes,
        rejection,
    )
