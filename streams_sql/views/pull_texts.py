"""Pull queries as EXPLAIN tells them: their steps, and how each view finds its rows."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from streams_sql.plan.bounded import BoundedPlan, Look
from streams_sql.plan.bounded_text import bounded_text
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.text import plan_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source
from streams_sql.views.bounded_pull import look_plan, table_pull
from streams_sql.views.pull import TablePull
from streams_sql.views.views import Views


@dataclass(frozen=True, slots=True)
class PullTexts:
    views: Views

    def text(self, plan: PullPlan | BoundedPlan) -> str:
        """Asks SQLite, so that it is not for the event loop."""
        if isinstance(plan, BoundedPlan):
            return bounded_text(plan, self._look_access)
        pull = TablePull(plan, indexed=self.views.indexed(plan.source)) if plan.source.is_table else None
        access = _RECORDS if pull is None else self._access(plan.source, pull)
        return f"{plan_text(plan)}\n        {access}"

    def _look_access(self, look: Look) -> str:
        return self._access(look.source, table_pull(look, look_plan(look))) if look.source.is_table else _RECORDS

    def _access(self, source: Source, pull: TablePull) -> str:
        try:
            return self.views.known(source).access(pull.bound())
        except SqlProblem as problem:
            return problem.message
        except sqlite3.Error as error:
            return f"its view cannot be asked: {error}"


_RECORDS = "all records of its topic"
