"""A look at the records of streams and topics: its pages, and what has been read for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from streams_sql.bounded.memory import Memory
from streams_sql.bounded.pages import Account, Budget, Pages, ResultRow
from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.piped_pages import PipedPages
from streams_sql.local.reading import Figures
from streams_sql.local.single_row import SingleRow
from streams_sql.local.topic_pages import RunPages, TopicPages
from streams_sql.plan.bounded import BoundedPlan, Piped, ScanPlan
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.records import OnProblem
from streams_sql.plan.spans import ALL
from streams_sql.sources import Source
from streams_sql.views.bounded_pull import BoundedPull, LookedInto

PagesT = TypeVar("PagesT", bound=RunPages)


class Scan:
    """Used by one thread at a time; `interrupt` may be called by another one."""

    def __init__(
        self,
        scan: ScanPlan,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        budget: Budget,
        on_problem: OnProblem,
        on_error: OnError,
    ) -> None:
        self._read: list[RunPages] = []
        account, memory = Account(budget), Memory(budget.memory_bytes)

        def topic(plan: PullPlan) -> Pages:
            if plan.source.is_row:
                return SingleRow(plan)
            asked = scan.asked.get(plan.source.topic, ALL)
            return self._noted(TopicPages(plan, settings, registry, account, on_problem, on_error, asked))

        def piped(node: Piped) -> PipedPages:
            return self._noted(PipedPages(node, scan.asked, settings, registry, account, memory, on_problem, on_error))

        self._pages = _pages(scan.plan, topic, piped, account, memory)
        self.page: Callable[[], list[ResultRow] | None] = self._pages.page
        self.interrupt: Callable[[], None] = self._pages.interrupt
        self.close: Callable[[], None] = self._pages.close

    @property
    def figures(self) -> Figures:
        """What has been read so far."""
        found = [each.figures for each in self._read]
        return Figures(
            sum(each.records for each in found), sum(each.bytes for each in found), sum(each.problems for each in found)
        )

    def _noted(self, pages: PagesT) -> PagesT:
        self._read.append(pages)
        return pages


def _pages(
    plan: PullPlan | BoundedPlan,
    topic: Callable[[PullPlan], Pages],
    piped: Callable[[Piped], PipedPages],
    account: Account,
    memory: Memory,
) -> Pages:
    if isinstance(plan, BoundedPlan):
        return BoundedPull(plan.node, _no_view, topic, account, memory, piped)
    return topic(plan)


def _no_view(source: Source) -> LookedInto:
    raise AssertionError(
        f"{source.name} is a table: queries that read nothing else go to its view, others read its topic"
    )
