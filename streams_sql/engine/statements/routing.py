"""Which server of a service executes a statement."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from streams_sql.engine.catalogue.changes import CatalogueChange
from streams_sql.language.external_statements import DescribeConnector
from streams_sql.language.statements import (
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    Explain,
    Show,
    ShowErrors,
    ShowTarget,
    Statement,
)


class Executor(Enum):
    """The leader alone writes commands. It runs the queries as well, so that it knows most of them."""

    ANY_SERVER = "any server"
    QUERY_SERVER = "the server that runs the queries"
    LEADER = "the leader"


def executor_of(statement: Statement) -> Executor:
    match statement:
        case _ if isinstance(statement, CatalogueChange):
            return Executor.LEADER
        case Explain() | ShowErrors() | DescribeSource() | DescribeSources() | DescribeFunction() | DescribeConnector():
            return Executor.QUERY_SERVER
        case Show(listed=ShowTarget.QUERIES):
            return Executor.QUERY_SERVER
    return Executor.ANY_SERVER


def executor_of_all(statements: Iterable[Statement]) -> Executor:
    """A request is executed by one server."""
    found = set(map(executor_of, statements))
    return next((each for each in (Executor.LEADER, Executor.QUERY_SERVER) if each in found), Executor.ANY_SERVER)
