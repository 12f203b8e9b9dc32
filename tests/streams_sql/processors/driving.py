"""A host for tests, as simple as can be: states lie about as bytes, and all of them are looked at when time moves on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streams_sql.processors.processor import Clock, KeylessProcessor, Processor, ReadingProcessor, TimedProcessor
from streams_sql.spark.shards.state_encoding import decoded, encoded


class Driven:
    """A processor and the states of its keys."""

    def __init__(self, processor: Processor) -> None:
        self._processor = processor
        self._clock = Clock(len(processor.keys))
        self.states: dict[Any, bytes] = {}

    def push(self, side: int, rows: Iterable[Any]) -> list[Any]:
        return [found for row in rows for found in self._one(side, row)]

    def _one(self, side: int, row: Any) -> list[Any]:
        processor, clock, out = self._processor, self._clock, list[Any]()
        if isinstance(processor, ReadingProcessor) and side == processor.reading_side:
            processor.read([row], {key: self._state(key) for key in self.states}, out)
            return out
        key = processor.keys[side](row)
        if key is None:
            if isinstance(processor, KeylessProcessor):
                processor.take_keyless(side, row, clock, out)
            return out
        time = -1
        if isinstance(processor, TimedProcessor):
            time = row[processor.rowtimes[side]]
            if time >= clock.now:
                clock.now = time
                self._expire(processor, out)
        self._keep(key, processor.take(key, self._state(key), side, row, clock, out))
        clock.sides[side] = max(clock.sides[side], time)
        return out

    def _expire(self, processor: TimedProcessor, out: list[Any]) -> None:
        told = []
        for key in list(self.states):
            state = self._state(key)
            if state[0] <= self._clock.now:
                kept, of_key = processor.expire(key, state, self._clock)
                told += of_key
                self._keep(key, kept)
        out.extend(row for _, row in sorted(told, key=lambda pair: pair[0]))

    def _state(self, key: Any) -> Any:
        found = self.states.get(key)
        return None if found is None else decoded(found)

    def _keep(self, key: Any, state: Any) -> None:
        if state is None:
            self.states.pop(key, None)
        else:
            self.states[key] = encoded(state)
