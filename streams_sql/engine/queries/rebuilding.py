"""CREATE OR REPLACE of what a query fills that cannot go on with what it knows: the new one is built beside it, and takes its place later.

That of a table writes to a topic of its own meanwhile. That of a stream writes nothing: it follows the former one, up to where that has
read, and what comes behind that is its own to write."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.catalogue.command import Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.queries.replacement import check_replacement, not_replaced, obstacle
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.problem import SqlProblem

SHADOW: Final = "rebuild-"
"""Begins, behind the prefix of the server's own topics, the names of those that queries write to as long as they are built."""
TOPIC_NAME_MAX: Final = 249
"""Characters of a topic's name."""


def shadow_topic(prefix: str, query_id: str) -> str:
    """Ids end with a number that no other one has."""
    before = prefix + SHADOW
    return before + query_id[-(TOPIC_NAME_MAX - len(before)) :]


def as_rebuilding(command: Command, plan: PersistentPlan, former: PersistentQuery | None) -> Command:
    """The command under the id of a query of its own, if the former one's state is of no use to it. SqlProblem where there is no such id."""
    if former is None or command.rebuilds is not None:
        return command
    reason = obstacle(former.plan, plan)
    if reason is None:
        return command
    if command.spare_id is None:
        raise not_replaced(plan, reason)
    return replace(command, query_id=command.spare_id, rebuilds=former.id)


def under_way(command: Command, plan: PersistentPlan, catalogue: Catalogue) -> PersistentQuery | None:
    """The query that is being built already for what a command asks for, which would throw away what that has read. A command that is
    replayed asks no more: it says what was done."""
    if command.spare_id is None or command.rebuilds is None:
        return None
    wanted = _without_names(plan)
    for query in catalogue.rebuilt(plan.sink.name):
        if query.properties == command.properties and _without_names(query.plan) == wanted:
            return query
    return None


def _without_names(plan: PersistentPlan) -> PersistentPlan:
    """What a query does, however its statement is written, whatever it is called, and wherever it writes meanwhile."""
    return replace(plan, sink=replace(plan.sink, statement="", query_id=None), shadow=None)


def kept(query: PersistentQuery) -> Outcome:
    """Nothing is to do: the query is on its way."""
    sink = query.plan.sink
    message = f"Query {query.id} is being built for this already. It takes the place of {query.rebuilds} when it has caught up."
    return Outcome((sink.kind.value.lower(), sink.name), "create", message, is_done=False, started=query)


def rebuilding(
    query: PersistentQuery, shadow: str, ended: tuple[PersistentQuery, ...], catalogue: Catalogue
) -> Outcome:
    """A query begins beside the one whose place it is to take; the source is as it was. `ended` were to do the same."""
    sink = query.plan.sink
    if sink.is_table:
        query = replace(query, plan=replace(query.plan, shadow=shadow))
    catalogue.add_query(query)
    message = f"Created query with ID {query.id}. It is built from its topics, and takes the place of {query.rebuilds} when it has caught up."
    return Outcome((sink.kind.value.lower(), sink.name), "create", message, started=query, ended=ended)


def swapped(query_id: str, catalogue: Catalogue) -> Outcome:
    """A query takes the place of the one beside which it was built. SqlProblem where one of them has changed meanwhile."""
    query = catalogue.queries.get(query_id)
    found = None if query is None else catalogue.source(query.writes)
    if query is None or query.rebuilds is None or found is None:
        raise SqlProblem(f"Query {query_id} is not built in the place of another one any more.")
    sink = query.plan.sink
    check_replacement(found, sink)
    former = catalogue.queries.get(query.rebuilds)
    if former is None and query.is_follower:
        raise SqlProblem(f"Query {query.rebuilds}, which {query_id} follows, is gone.")
    if former is not None:
        catalogue.end_query(former.id)
    query = replace(query, plan=replace(query.plan, shadow=None), rebuilds=None)
    catalogue.put(sink)
    catalogue.add_query(query)
    message = f"Query {query.id} has taken its place."
    ended = () if former is None else (former,)
    return Outcome((sink.kind.value.lower(), sink.name), "create", message, started=query, ended=ended)
