"""Distances of times that matter to a query: at these a record becomes late, a window is over, and a partner is too far away."""

from __future__ import annotations

from collections.abc import Iterator

from tests.streams_sql.recomputation.queries import Join, Relation, Select, Subquery, Union, Window
from tests.streams_sql.recomputation.sources import DAY


def time_bounds(select: Select) -> list[int]:
    """Without repetition, in a fixed order, and none of 0."""
    return list(dict.fromkeys(bound for bound in _bounds(select) if bound))


def _bounds(select: Select) -> Iterator[int]:
    if select.grouping is not None and select.grouping.window is not None:
        yield from _of_window(select.grouping.window)
    yield from _of_relation(select.relation)


def _of_window(window: Window) -> Iterator[int]:
    grace = max(DAY - window.size, 0) if window.grace is None else window.grace
    yield from (window.size, grace, window.size + grace)


def _of_relation(relation: Relation) -> Iterator[int]:
    match relation:
        case Subquery():
            yield from _bounds(relation.select)
        case Union():
            for select in relation.selects:
                yield from _bounds(select)
        case Join():
            if relation.of_streams:
                grace = max(DAY - 2 * relation.before, 0) if relation.grace is None else relation.grace
                before, after = relation.before, relation.after
                yield from (before, after, before + grace, after + grace, before + after + grace)
            yield from _of_relation(relation.left)
            yield from _of_relation(relation.right)
