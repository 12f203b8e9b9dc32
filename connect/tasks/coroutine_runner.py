"""Connectors that are coroutines, for an engine that is not: one private event loop in a task's process."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator
from typing import Any, TypeVar, cast

T = TypeVar("T")


class CoroutineRunner:
    """Runs what is awaitable to its end, and returns what is not."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def result(self, value: T | Awaitable[T]) -> T:
        return self._run(value) if inspect.isawaitable(value) else value

    def items(self, source: Iterator[T] | AsyncIterator[T]) -> Iterator[T]:
        """A plain iterator over either kind; closing it closes the source."""
        return source if isinstance(source, Iterator) else self._items(source)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()

    def _items(self, source: AsyncIterator[T]) -> Generator[T, None, None]:
        try:
            while True:
                try:
                    item = self._run(anext(source))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            close = getattr(source, "aclose", None)
            if close is not None:
                self._run(close())

    def _run(self, awaitable: Awaitable[T]) -> T:
        if self._runner is None:
            self._runner = asyncio.Runner()

        async def settle() -> Any:
            return await awaitable

        return cast("T", self._runner.run(settle()))
