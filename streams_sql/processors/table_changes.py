"""Tables as their rows come: what was there before, and which rows a condition lets through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.plan.nodes import Filter, Node
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.keys import table_key
from streams_sql.processors.processor import Change, Clock, Out, as_deleted


class TableChanges:
    """Rows of a table as changes. The state of a key is its row."""

    def __init__(self, node: Node) -> None:
        self.keys = (table_key(node),)

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        out.append((state, row))
        return None if row[-1][0] else row


class TableFilter:
    """WHERE over a table: a row that no longer passes is told to be gone, one that never passed is not heard of. The state of a key is
    its row, or where changes are not asked for (`with_old`), True."""

    def __init__(self, node: Filter, with_old: bool, on_error: OnError) -> None:
        self.keys = (table_key(node.input),)
        self._passes = compile_column(node.condition, columns_of(node.input), on_error)
        self._with_old = with_old

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        if not row[-1][0] and self._passes(row):
            out.append((state, row) if self._with_old else row)
            return row if self._with_old else True
        if state is not None:
            gone = (*row[:-1], as_deleted(row[-1]))
            out.append((state, gone) if self._with_old else gone)
        return None


def filtered_changes(node: Filter, with_old: bool, on_error: OnError) -> Callable[[list[Change]], list[Any]]:
    """WHERE or HAVING over changes, which tell by themselves whether a row passed before."""
    columns = columns_of(node.input)
    passes = compile_column(node.condition, columns, on_error)
    passed = compile_column(node.condition, columns, _told_already)

    def through(changes: list[Change]) -> list[Any]:
        found = []
        for change in changes:
            kept = _through(change, passes, passed)
            if kept is not None:
                found.append(kept if with_old else kept[1])
        return found

    return through


def _through(change: Change, passes: Evaluate, passed: Evaluate) -> Change | None:
    old, new = change
    before = old if old is not None and passed(old) else None
    if not new[-1][0] and passes(new):
        return before, new
    return None if before is None else (before, (*new[:-1], as_deleted(new[-1])))


def _told_already(error: Exception) -> None:
    """The row was new once."""
