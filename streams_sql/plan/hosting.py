"""How Spark runs what has state: with operators of its own where these mean the same and are quicker, else in shards."""

from __future__ import annotations

from enum import Enum

from streams_sql.language.statements import Emit, JoinKind, WindowKind
from streams_sql.plan.nodes import Aggregate, Filter, Node, Read, StreamJoin, UnionAll
from streams_sql.plan.pipeline import chain_of, chains_of


class Hosting(Enum):
    STATELESS = "without state"
    NATIVE = "Spark's own operator"
    SHARDS = "shards"


def hosting_of(node: Node) -> Hosting:
    chain = chain_of(node)
    filters_table = any(isinstance(operator, Filter) and operator.shape.is_table for operator in chain.operators)
    if isinstance(chain.base, UnionAll):
        return Hosting.STATELESS if _is_plain_stream(node) else Hosting.SHARDS
    match chain.base:
        case Read():
            # A row that does not pass any more has to be told to be gone, if it has passed before.
            return Hosting.SHARDS if filters_table else Hosting.STATELESS
        case Aggregate() as aggregate if _is_native_aggregate(aggregate):
            return Hosting.SHARDS if filters_table and aggregate.emit is not Emit.FINAL else Hosting.NATIVE
        case StreamJoin() as join if _is_native_join(join):
            return Hosting.NATIVE
    return Hosting.SHARDS


def _is_native_aggregate(node: Aggregate) -> bool:
    return (
        _is_plain_stream(node.input)
        and (node.window is None or node.window.kind is not WindowKind.SESSION)
        and all(call.overload.spark is not None for call in node.aggregates)
    )


def _is_native_join(node: StreamJoin) -> bool:
    """Spark tells of a row without a partner when both streams have gone past it, and never if one of them is silent. In Kafka Streams one
    stream alone moves the time on, and a row without a key has no partner."""
    return (
        node.kind is JoinKind.INNER
        and _is_plain_stream(node.left)
        and _is_plain_stream(node.right)
        and not (node.left_bounds or node.right_bounds)
    )


def _is_plain_stream(node: Node) -> bool:
    return all(isinstance(chain.base, Read) for chain in chains_of(node)) and not node.shape.is_table
