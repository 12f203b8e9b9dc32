"""Statements that change nothing: SHOW, DESCRIBE and EXPLAIN."""

from __future__ import annotations

from dataclasses import dataclass

from streams_sql.engine.statements.connectors import Connectors
from streams_sql.engine.statements.entities import Acknowledgement, Entity
from streams_sql.engine.statements.explanation import Explanation
from streams_sql.engine.statements.listing import Listings
from streams_sql.engine.statements.session import Session
from streams_sql.language.external_statements import DescribeConnector, ShowConnectorPlugins, ShowConnectors
from streams_sql.language.statements import (
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    Explain,
    Show,
    ShowErrors,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Descriptions:
    listings: Listings
    explanation: Explanation
    connectors: Connectors

    async def of(self, statement: Statement, text: str, session: Session) -> Entity:
        """SqlProblem, StoreFailure."""
        match statement:
            case Show():
                return await self.listings.show(statement, session)
            case ShowErrors():
                return self.listings.show_errors(statement)
            case DescribeSource():
                return await self.listings.describe(statement)
            case DescribeSources():
                return await self.listings.describe_all(statement)
            case DescribeFunction():
                return self.listings.describe_function(statement)
            case ShowConnectors():
                return await self.connectors.list(statement)
            case ShowConnectorPlugins():
                return await self.connectors.list_plugins()
            case DescribeConnector():
                return await self.connectors.describe(statement)
            case Explain():
                return await self.explanation.explain(statement, text, session.properties)
        return Acknowledgement()
