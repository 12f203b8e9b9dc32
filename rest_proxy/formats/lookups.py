"""Answers to questions that take their time: asked once for all who wait, on a thread, and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
AnswerT = TypeVar("AnswerT")


class Lookups(Generic[KeyT, AnswerT]):
    """`kept_s` says how long an answer may be kept. Of too many the oldest goes."""

    def __init__(
        self,
        ask: Callable[[KeyT], AnswerT],
        executor: Executor,
        kept_max: int,
        kept_s: Callable[[KeyT, AnswerT], float],
    ) -> None:
        self._ask = ask
        self._executor = executor
        self._kept_max = kept_max
        self._kept_s = kept_s
        self._kept: dict[KeyT, tuple[AnswerT, float]] = {}
        self._asked: dict[KeyT, asyncio.Future[AnswerT]] = {}

    def known(self, key: KeyT) -> AnswerT | None:
        found = self._kept.get(key)
        return found[0] if found is not None and monotonic() < found[1] else None

    async def get(self, key: KeyT) -> AnswerT:
        """The answer; what `_ask` raises is raised to all who wait, and not kept."""
        found = self.known(key)
        if found is not None:
            return found
        asked = self._asked.get(key)
        if asked is None:
            # In the context of whoever asks first: the registry is told the id of that request.
            ask = partial(copy_context().run, self._ask, key)
            asked = asyncio.get_running_loop().run_in_executor(self._executor, ask)
            self._asked[key] = asked
            asked.add_done_callback(partial(self._keep, key))
        # Whoever gives up takes nothing from the others.
        return await asyncio.shield(asked)

    def _keep(self, key: KeyT, asked: asyncio.Future[AnswerT]) -> None:
        del self._asked[key]
        if asked.cancelled() or asked.exception() is not None:
            return
        answer = asked.result()
        kept_s = self._kept_s(key, answer)
        self._kept.pop(key, None)
        if kept_s <= 0:
            return
        if len(self._kept) >= self._kept_max:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = answer, monotonic() + kept_s
