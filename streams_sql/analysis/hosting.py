"""What Spark does not run yet. Queries that fill topics are refused then, when the statement is made, and only after all that is wrong has
been told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from streams_sql.analysis.unsupported import NotSupportedYet
from streams_sql.language.statements import Emit, Query, WindowKind
from streams_sql.plan.nodes import (
    Aggregate,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    LookupJoin,
    Node,
    Project,
    Read,
    Rekey,
    StreamJoin,
    TableJoin,
)
from streams_sql.plan.pipeline import chain_of

Refuse: TypeAlias = Callable[[Node, Query], None]
"""NotSupportedYet for a plan that the host does not run."""


def refuse_unhosted(node: Node, query: Query) -> None:
    """Of a query that fills a topic."""
    _refuse_state(node, query)
    chain = chain_of(node)
    if any(isinstance(operator, Filter) and operator.shape.is_table for operator in chain.operators):
        _refuse_table_filter(chain.base, query)


def spark_runs(node: Node, query: Query) -> bool:
    """Of a query that somebody listens to."""
    try:
        refuse_unhosted(node, query)
    except NotSupportedYet:
        return False
    return True


def _refuse_state(node: Node, query: Query) -> None:
    """Spark runs one operator with state, over what is read."""
    base = chain_of(node).base
    match base:
        case Aggregate():
            _refuse_aggregate(base, query)
        case StreamJoin() | LookupJoin() | TableJoin() | ForeignKeyJoin():
            _refuse_join(base, query)


def _refuse_aggregate(node: Aggregate, query: Query) -> None:
    if query.joins:
        raise NotSupportedYet(
            "GROUP BY on a join is", "Make a stream of the join, and group that one.", query.joins[0].position
        )
    if node.input.shape.is_table:
        raise NotSupportedYet("Aggregates over tables are", "Aggregate the stream that the table is made from.")
    if node.window is not None and node.window.kind is WindowKind.SESSION:
        raise NotSupportedYet("Session windows are", "Use a tumbling or a hopping window.", node.window.position)
    for call in node.aggregates:
        if call.overload.spark is None:
            raise NotSupportedYet(f"{call.function} is", "SHOW FUNCTIONS lists the other aggregates.")


def _refuse_join(node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin, query: Query) -> None:
    place = query.joins[0].position
    if len(query.joins) > 1:
        raise NotSupportedYet(
            "Joins of more than two sources are",
            "Join two of them into a stream, and that stream with the third.",
            query.joins[1].position,
        )
    if isinstance(node, TableJoin):
        raise NotSupportedYet("Table-table joins are", "Join a stream with a table instead.", place)
    if isinstance(node, ForeignKeyJoin):
        raise NotSupportedYet("Foreign-key joins of tables are", "Join a stream with a table instead.", place)
    if any(read.source.key_window is not None for read in _reads(node)):
        raise NotSupportedYet(
            "Joins of windowed sources are", "Join the sources that the windows were made from.", place
        )


def _refuse_table_filter(base: Node, query: Query) -> None:
    """A row that does not pass any more has to be told to be gone, if it has passed before."""
    if isinstance(base, Aggregate) and query.having is not None:
        if query.emit is not Emit.FINAL:
            raise NotSupportedYet(
                "HAVING in a query that emits changes is",
                "Leave it out and choose rows when you ask the table, or use a window with EMIT FINAL.",
                query.having.position,
            )
    elif query.where is not None:
        raise NotSupportedYet(
            "WHERE on a table is",
            "Choose rows in the stream below it, or when you ask the table.",
            query.where.position,
        )


def _reads(node: Node) -> list[Read]:
    match node:
        case Read():
            return [node]
        case Filter() | Project() | FlatMap() | Rekey() | Aggregate():
            return _reads(node.input)
        case LookupJoin():
            return _reads(node.stream) + _reads(node.table)
        case StreamJoin() | TableJoin() | ForeignKeyJoin():
            return _reads(node.left) + _reads(node.right)
