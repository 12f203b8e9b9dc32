"""SELECT without FROM: one row, computed from its expressions alone."""

from __future__ import annotations

from streams_sql.bounded.pages import ResultRow
from streams_sql.evaluation.compiler import compile_column
from streams_sql.plan.nodes import PullPlan
from streams_sql.problem import SqlProblem


class SingleRow:
    """A page with the row, or without it where the condition is not true. No records are read for it."""

    def __init__(self, plan: PullPlan) -> None:
        self._plan: PullPlan | None = plan

    def page(self) -> list[ResultRow] | None:
        plan, self._plan = self._plan, None
        if plan is None:
            return None
        if plan.condition is not None and not compile_column(plan.condition, (), _refuse)(()):
            return []
        return [tuple([compile_column(named.expression, (), _refuse)(()) for named in plan.columns])]

    def interrupt(self) -> None:
        self._plan = None

    def close(self) -> None:
        self._plan = None


def _refuse(error: Exception) -> None:
    """Of records, an expression that fails gives NULL and others go on. Here it is all that was asked for."""
    raise SqlProblem(f"The expression has no value: {error}.")
