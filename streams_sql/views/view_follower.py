"""Keeps the views in step with the catalogue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from streams_sql.sources import Source
from streams_sql.views.views import Views

_logger = logging.getLogger(__name__)


class ViewFollower:
    """`tables` returns the tables of the catalogue that have a view, as they are now."""

    def __init__(self, views: Views, tables: Callable[[], Iterable[Source]]) -> None:
        self._views = views
        self._tables = tables
        self._changed = asyncio.Event()
        self._is_current = asyncio.Event()
        self._is_current.set()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._views.start()
        self._changed.clear()
        await self._views.follow(self._tables())
        self._update_current()
        self._running = asyncio.create_task(self._run(), name="follow the catalogue")

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        await self._views.stop()

    def catalogue_changed(self) -> None:
        self._changed.set()
        self._is_current.clear()

    async def opened(self, sources: Iterable[Source]) -> None:
        """Return when these sources have their views. A statement that created one of them has been acknowledged by then, and its client
        may read from it at once. A view that cannot be opened is not waited for."""
        if not self._is_current.is_set() and any(each.has_view and not self._views.is_open(each) for each in sources):
            await self._is_current.wait()

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._views.follow(self._tables())
            except Exception:
                _logger.exception("views could not follow the catalogue")
            self._update_current()

    def _update_current(self) -> None:
        if not self._changed.is_set():
            self._is_current.set()
