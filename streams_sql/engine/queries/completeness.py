"""Which streams and tables lack rows because a query or a view has not read all of its topics."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.queries.query_status import QueryState
from streams_sql.progress.backlog import Ranges
from streams_sql.progress.catch_up import CatchUp
from streams_sql.sources import Source
from streams_sql.views.views import View, Views

INTERVAL_S: Final = 1.0
"""Between two looks at the log end offsets."""
INCOMPLETE_INTERVAL_S: Final = 0.25
"""The same while a query or a view is incomplete."""
SPACING_S: Final = 0.05
"""The shortest time between two looks."""
_RUNNING: Final = (QueryState.RUNNING, QueryState.STARTING, QueryState.UNRESPONSIVE)

_logger = logging.getLogger(__name__)


class QueryReadings(Protocol):
    def reading(self, query: PersistentQuery) -> CatchUp | None:
        """None if this server does not run the query."""

    def state(self, query: PersistentQuery) -> QueryState: ...


class Completeness:
    """Compares what queries and views have read with the log end offsets of their topics. A table is incomplete if its view is, or the
    query that writes it, or a query that writes a source of that."""

    def __init__(
        self,
        catalogue: Catalogue,
        queries: QueryReadings,
        views: Views,
        admin: Admin,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalogue = catalogue
        self._queries = queries
        self._views = views
        self._admin = admin
        self._clock = clock
        self._view_readings: dict[str, tuple[View, CatchUp]] = {}
        self._notes: dict[str, tuple[str, ...]] = {}
        self._is_incomplete = False
        self._woken = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._running = asyncio.create_task(self._run(), name="look at log end offsets")

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def catalogue_changed(self) -> None:
        self._notes.clear()
        self._woken.set()

    def progressed(self) -> None:
        """A query has read more."""
        if self._is_incomplete:
            self._woken.set()

    def notes(self, source: Source) -> tuple[str, ...]:
        """Why rows of a stream or table may be missing or old. As of the last look, so that a query of thousands a second can have them."""
        known = self._notes.get(source.name)
        return tuple(self._found_notes(source)) if known is None else known

    # --- looks ---

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except StoreFailure as failure:
                _logger.debug("log end offsets could not be read: %s", failure)
            except Exception:
                _logger.exception("log end offsets could not be compared")
            await asyncio.sleep(SPACING_S)
            await self._pause()

    async def _pause(self) -> None:
        interval_s = INCOMPLETE_INTERVAL_S if self._is_incomplete else INTERVAL_S
        try:
            # Without queries there is nothing to compare.
            async with asyncio.timeout(interval_s if any(self._readings()) else None):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def look(self) -> None:
        """Compare positions with the log end offsets. StoreFailure."""
        self._update_views()
        queries = dict(self._readings())
        readings = [*queries.values(), *(reading for _, reading in self._view_readings.values())]
        for reading in readings:
            reading.begin_look()
        ranges = await self._admin.ranges({topic for reading in readings for topic in reading.topics})
        now_s, looked = self._clock(), dict[str, bool]()
        for query_id in queries:
            self._look_at(query_id, queries, ranges, now_s, looked)
        for name, (_, reading) in self._view_readings.items():
            reading.end_look(ranges, now_s, are_inputs_complete=self._are_complete(name, looked))
        self._is_incomplete = not all(reading.is_complete for reading in readings)
        self._notes = {name: tuple(self._found_notes(source)) for name, source in self._catalogue.sources.items()}

    def _readings(self) -> Iterator[tuple[str, CatchUp]]:
        for query in self._catalogue.queries.values():
            reading = self._queries.reading(query)
            if reading is not None:
                yield query.id, reading

    def _update_views(self) -> None:
        """A view that was opened again has its own start."""
        found = {}
        for name, source in self._catalogue.sources.items():
            view = self._views.view(name)
            if view is not None and source.query_id is not None:
                known = self._view_readings.get(name)
                found[name] = known if known is not None and known[0] is view else (view, CatchUp([source.topic]))
                found[name][1].report({source.topic: view.progress.positions})
        self._view_readings = found

    def _look_at(
        self, query_id: str, queries: dict[str, CatchUp], ranges: Ranges, now_s: float, looked: dict[str, bool]
    ) -> bool:
        """Whether a query is complete. Those that write its sources come first; of queries in a circle, any does."""
        query = self._catalogue.queries.get(query_id)
        if query is None or query_id in looked or query_id not in queries:
            return looked.get(query_id, True)
        looked[query_id] = True
        writers = [writer for name in query.reads for writer in self._writers(name)]
        are_complete = [self._look_at(writer.id, queries, ranges, now_s, looked) for writer in writers]
        queries[query_id].end_look(ranges, now_s, are_inputs_complete=all(are_complete))
        looked[query_id] = queries[query_id].is_complete
        return looked[query_id]

    def _are_complete(self, name: str, looked: dict[str, bool]) -> bool:
        return all(looked.get(writer.id, True) for writer in self._writers(name))

    def _writers(self, name: str) -> list[PersistentQuery]:
        """A query that is being built in the place of another one writes to its own topic."""
        return [query for query in self._catalogue.writers(name) if query.rebuilds is None]

    # --- notes ---

    def _found_notes(self, source: Source) -> Iterator[str]:
        seen: set[str] = set()
        for query in self._writers(source.name):
            yield from self._query_notes(source.name, query, f"query {query.id}", seen)
        _, reading = self._view_readings.get(source.name, (None, None))
        backlog = None if reading is None else reading.backlog
        if backlog is not None and backlog.is_own:
            yield f"{source.name} is incomplete: its view is {backlog.behind} records behind topic {source.topic}."

    def _query_notes(self, name: str, query: PersistentQuery, called: str, seen: set[str]) -> Iterator[str]:
        if query.id in seen:
            return
        is_upstream = bool(seen)
        seen.add(query.id)
        reading, state = self._queries.reading(query), self._queries.state(query)
        if reading is not None and not reading.is_complete and state in _RUNNING:
            text = "has not reported what it has read" if reading.backlog is None else reading.backlog.text
            if reading.backlog is None or reading.backlog.is_own:
                yield f"{name} is incomplete: {called} {text}."
        elif is_upstream and state not in _RUNNING:
            yield f"{name} may be out of date: {called} is {state}."
        for source in sorted(query.reads):
            for writer in self._writers(source):
                yield from self._query_notes(name, writer, f"query {writer.id}, which writes {source},", seen)
