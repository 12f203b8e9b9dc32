"""How Spark runs what has state: with operators of its own where these mean the same and are quicker, else in shards."""

from __future__ import annotations

from enum import Enum

from streams_sql.plan.nodes import Aggregate, Filter, Node, Read, UnionAll
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
        case Aggregate() as aggregate if _is_native_aggregate(aggregate) and not filters_table:
            return Hosting.NATIVE
    return Hosting.SHARDS


def _is_native_aggregate(node: Aggregate) -> bool:
    """Spark knows neither the order in which records of several partitions are processed, nor stream time but at the ends of batches: so
    what depends on either is not left to it."""
    return _is_plain_stream(node.input) and node.window is None and all(call.is_unordered for call in node.aggregates)


def _is_plain_stream(node: Node) -> bool:
    return all(isinstance(chain.base, Read) for chain in chains_of(node)) and not node.shape.is_table
