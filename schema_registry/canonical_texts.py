"""Finding schemas by the canonical form of their text where the stored text is another.

Other registries, and older ones, wrote other texts for the same schemas. What is stored is never written anew; but who registers such
a schema again must get its old id, and that is found by the canonical text.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import replace
from typing import Final

from schema_registry.errors import SchemaRefused
from schema_registry.parsing import Parser
from schema_registry.state.state import State
from schema_registry.store.values import SchemaValue
from schema_registry.subject import context_of

SLICE_S: Final = 0.002
"""Requests wait no longer than this for the work behind their backs."""


class CanonicalTexts:
    """Works through schemas whose records do not carry the mark of a canonical text, beside everything else."""

    def __init__(self, state: State, parser: Parser) -> None:
        self._state = state
        self._parser = parser
        self._waiting: deque[tuple[str, int]] = deque()
        self._noted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def note(self, value: SchemaValue) -> None:
        if value.md5 is None:
            self._waiting.append((value.subject, value.version))
            self._noted.set()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="canonical texts")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._noted.wait()
            self._noted.clear()
            began_s = time.monotonic()
            while self._waiting:
                self._index(*self._waiting.popleft())
                if time.monotonic() - began_s > SLICE_S:
                    await asyncio.sleep(SLICE_S)
                    began_s = time.monotonic()

    def _index(self, subject: str, number: int) -> None:
        version = self._state.version(subject, number, deleted=True)
        if version is None:
            return
        try:
            canonical = self._parser.stored(version).canonical
        except SchemaRefused:
            # It can be read as it is; only nobody can register it again.
            return
        if canonical != version.schema.text:
            schema = replace(version.schema, text=canonical)
            self._state.context(context_of(subject)).know_also(schema, version.id)
