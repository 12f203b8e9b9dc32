"""The views of a server: which there are, how fresh they are, and what they hold."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from streams_sql.bounded.memory import Memory
from streams_sql.bounded.pages import Account, Budget, Pages, ResultRow, each_page
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.topic_pages import TopicPages
from streams_sql.plan.bounded import BoundedPlan
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.records import Problem
from streams_sql.problem import SqlProblem
from streams_sql.sources import Index, Source
from streams_sql.views.access_path import access_path
from streams_sql.views.bounded_pull import BoundedPull
from streams_sql.views.layout import Places, ViewLayout
from streams_sql.views.prepared import ReadyPull
from streams_sql.views.progress import Progress
from streams_sql.views.pull import SHORT_ROWS, BoundPull, TableScan, note_error
from streams_sql.views.store import Connection, Store, is_corrupt, remove_view
from streams_sql.views.tailing import Tailer
from streams_sql.views.topic_watch import INTERVAL_S, TopicWatch

SCAN_THREADS: Final = 4
"""Pages of long queries that are made at the same time."""

_NO_COLUMNS: Final[frozenset[str]] = frozenset()

_logger = logging.getLogger(__name__)


class IndexState(StrEnum):
    """An index waits until its table has a view."""

    READY = "READY"
    BUILDING = "BUILDING"
    WAITING = "WAITING"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """`rows` is how many an index has that is being built."""

    state: IndexState
    rows: int = 0

    def __str__(self) -> str:
        rows = f" ({self.rows} rows so far)" if self.state is IndexState.BUILDING else ""
        return f"{self.state}{rows}"


@dataclass(frozen=True, slots=True)
class ViewStatus:
    """`positions` are the offsets up to which each partition is in the view; `lag` is how many are still to come. `problem` says why
    it does not get on. Records that could not be read are counted in `problem_count`."""

    name: str
    topic: str
    positions: Mapping[int, int]
    lag: int
    is_caught_up: bool
    stream_time_ms: int
    problem: str | None
    problem_count: int


class View:
    """A table that follows its topic."""

    def __init__(
        self,
        source: Source,
        folder: Path,
        watch: TopicWatch,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
    ) -> None:
        self.source = source
        self._layout = ViewLayout.of(source)
        self._store = Store(folder, self._layout)
        self._store.want_indexes(self._declared())
        self._indexed: tuple[frozenset[Places], frozenset[str]] | None = None
        self.progress = Progress(self._store.facts.positions)
        self._tailer = Tailer(self._store, self.progress, watch, settings, registry)
        self._reader: tuple[int, Connection] | None = None
        self._tailer.start()

    async def stop(self) -> None:
        await asyncio.to_thread(self._tailer.stop)
        self.progress.cancel()
        if self._reader is not None:
            self._reader[1].close()
        self._store.close()

    def status(self) -> ViewStatus:
        facts, progress = self._store.facts, self.progress
        return ViewStatus(
            self.source.name,
            self.source.topic,
            progress.positions,
            progress.lag,
            progress.is_caught_up,
            facts.stream_time_ms,
            progress.problem,
            facts.problem_count,
        )

    def problems(self) -> Sequence[Problem]:
        """The latest records that could not be read, the last one first."""
        return self._store.problems()

    def has_rows_of(self, source: Source) -> bool:
        return self.source is source or self.source == source or _has_same_rows(self.source, source)

    def own_reader(self) -> Connection:
        """The connection of the event loop."""
        if self._reader is None or self._reader[0] != self._store.generation:
            if self._reader is not None:
                self._reader[1].close()
            self._reader = self._store.generation, self._store.reader()
        return self._reader[1]

    def new_reader(self) -> Connection:
        return self._store.reader()

    # --- indexes ---

    def define(self, source: Source) -> None:
        """The same table with other indexes, or filled by another query."""
        self.source = source
        self._store.want_indexes(self._declared())

    def _declared(self) -> list[Places]:
        return [self._places(index) for index in self.source.indexes]

    def _places(self, index: Index) -> Places:
        return tuple(self._layout.places[name] for name in index.columns)

    @property
    def indexed(self) -> frozenset[str]:
        """The first columns of the indexes that are ready; another object whenever these change."""
        ready = self._store.ready_indexes
        if self._indexed is None or self._indexed[0] is not ready:
            self._indexed = ready, frozenset(self._layout.columns[places[0]].name for places in ready)
        return self._indexed[1]

    def is_found_by(self, column: str) -> bool:
        """Whether rows with some value in a column can be had without looking at all."""
        return column == self.source.schema.key[0].name or column in self.indexed

    def index_progress(self, index: Index) -> IndexProgress:
        if self._places(index) in self._store.ready_indexes:
            return IndexProgress(IndexState.READY)
        return IndexProgress(IndexState.BUILDING, self._store.copied_rows)

    def access(self, pull: BoundPull) -> str:
        """How the rows of a query are found."""
        connection = self.new_reader()
        try:
            return access_path(
                connection, pull, self._layout, {self._places(each): each.name for each in self.source.indexes}
            )
        finally:
            connection.close()

    def failure(self, error: sqlite3.Error) -> Exception:
        """What to tell of an error. A file that is broken is built anew."""
        if not is_corrupt(error):
            return error
        self._tailer.rebuild()
        return SqlProblem(
            f"The file of {self.source.name} is damaged: it is built anew from topic {self.source.topic}. Ask again later."
        )


class Views:
    """Lives on an event loop. `settings` are those of Kafka's clients, in librdkafka's names."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None = None,
        watch_interval_s: float = INTERVAL_S,
    ) -> None:
        self._folder = folder
        self._settings = dict(settings)
        self._registry = registry
        self._watch = TopicWatch(settings, watch_interval_s)
        self._views: dict[str, View] = {}
        self._wanted: Mapping[str, Source] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(SCAN_THREADS, "pull")
        self._following = asyncio.Lock()

    async def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._watch.start()

    async def stop(self) -> None:
        await asyncio.gather(*(view.stop() for view in self._views.values()), *self._closing.values())
        self._views.clear()
        await asyncio.to_thread(self._watch.stop)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def follow(self, tables: Iterable[Source]) -> None:
        """Have a view for each of these tables, and none besides. One whose definition is another now is rebuilt if its rows would
        differ, and continues where it was otherwise. Closing a view takes as long as a poll of its consumer: only a view of the same
        name waits for that."""
        wanted = self._wanted = {table.name: table for table in tables}
        async with self._following:
            for view in list(self._views.values()):
                table = wanted.get(view.source.name)
                if table is not None and table != view.source and _has_same_rows(table, view.source):
                    view.define(table)
                if view.source != table:
                    self._close(view)
            for folder in self._folder.iterdir():
                if folder.name not in wanted and folder.name not in self._closing:
                    remove_view(folder)
            missing = {name: table for name, table in wanted.items() if name not in self._views}
            for name in [name for name in missing if name not in self._closing]:
                self._views[name] = self._opened(missing.pop(name))
            for name, table in missing.items():
                await self._closing[name]
                self._views[name] = self._opened(table)

    def _close(self, view: View) -> None:
        name = view.source.name
        del self._views[name]
        self._closing[name] = asyncio.create_task(self._closed(view), name=f"close view {name}")

    async def _closed(self, view: View) -> None:
        name = view.source.name
        try:
            await view.stop()
            if name not in self._wanted:
                remove_view(self._folder / name)
        except Exception:
            _logger.exception("view %s could not be closed", name)
        finally:
            del self._closing[name]

    def is_open(self, source: Source) -> bool:
        view = self._views.get(source.name)
        return view is not None and view.has_rows_of(source)

    def _opened(self, table: Source) -> View:
        return View(table, self._folder / table.name, self._watch, self._settings, self._registry)

    def view(self, name: str) -> View | None:
        return self._views.get(name)

    def indexed(self, source: Source) -> frozenset[str]:
        """Columns by which rows can be found, beside those of the key; another object whenever these change."""
        view = self._views.get(source.name)
        return _NO_COLUMNS if view is None else view.indexed

    def index_progress(self, source: Source, index: Index) -> IndexProgress:
        view = self._views.get(source.name)
        return IndexProgress(IndexState.WAITING) if view is None else view.index_progress(index)

    def status(self) -> list[ViewStatus]:
        return [view.status() for view in self._views.values()]

    # --- pull queries ---

    async def pull(self, ready: ReadyPull, budget: Budget | None = None) -> AsyncGenerator[list[ResultRow], None]:
        """The rows in lists, each no longer than a page. Whoever stops before the end must close the iterator (`aclosing`), which ends
        the query. SqlProblem; BudgetSpent where it looks at too much."""
        budget = budget or Budget()
        account = Account(budget)
        if isinstance(ready.plan, BoundedPlan):
            pages: Pages = self._bounded(ready.plan, account, Memory(budget.memory_bytes))
        elif ready.table is None:
            pages = self._scanned(ready.plan, account)
        else:
            view = self.known(ready.plan.source)
            rows, scan = self._begun(view, ready.table, account)
            if rows:
                yield rows
            if scan is None:
                return
            pages = _Watched(scan, view)
        async with aclosing(each_page(pages, self._threads)) as following:
            async for page in following:
                yield page

    def _begun(self, view: View, pull: BoundPull, account: Account) -> tuple[list[ResultRow], TableScan | None]:
        """The rows that can be had at once, and what gives the others."""
        if not pull.is_short:
            return [], TableScan(view.new_reader(), pull, account)
        limit = pull.query.limit
        try:
            page = pull.query.page(view.own_reader(), pull, None, SHORT_ROWS)
        except sqlite3.Error as error:
            raise view.failure(error) from error
        rows = page.rows[:limit]
        if page.last is None or len(rows) == limit:
            return rows, None
        return rows, TableScan(view.new_reader(), pull, account, len(rows), page.last)

    def _bounded(self, plan: BoundedPlan, account: Account, memory: Memory) -> BoundedPull:
        views = {source.name: self.known(source) for source in plan.sources if source.is_table}
        return BoundedPull(
            plan.node,
            lambda source: views[source.name],
            lambda scanned: self._scanned(scanned, account),
            account,
            memory,
        )

    def _scanned(self, plan: PullPlan, account: Account) -> TopicPages:
        return TopicPages(plan, self._settings, self._registry, account, _pass_over, note_error)

    def known(self, source: Source) -> View:
        """The view of a table. SqlProblem where there is none."""
        name = source.name
        view = self._views.get(name)
        if view is None:
            look = f"SELECT * FROM topic('{source.topic}');"  # noqa: S608 - it is shown, not run
            raise SqlProblem(
                f"{name} is not materialized: there is no view of it to look into. {look} shows the records of its topic at once. For a "
                "view, make a table with CREATE SOURCE TABLE over that topic, or with a query; EMIT CHANGES shows rows as they come."
            )
        if not view.has_rows_of(source):
            raise SqlProblem(f"{name} was made anew in the meantime: ask again.")
        return view


def _has_same_rows(one: Source, other: Source) -> bool:
    """Whether what is kept of the one is right for the other: another query may fill a table whose rows look the same."""
    return replace(one, indexes=other.indexes, statement=other.statement, query_id=other.query_id) == other


def _pass_over(problem: Problem) -> None:
    _logger.debug("a look passes over a record: %s", problem)


class _Watched:
    """The pages of a scan; a damaged file is built anew."""

    def __init__(self, scan: TableScan, view: View) -> None:
        self._scan = scan
        self._view = view
        self.interrupt = scan.interrupt
        self.close = scan.close

    def page(self) -> list[ResultRow] | None:
        try:
            return self._scan.page()
        except sqlite3.Error as error:
            raise self._view.failure(error) from error
