"""Runs processors in this process: states in a dict, timers in a heap."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, MutableMapping
from heapq import heappop, heappush
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from streams_sql.local.limits import COUNT_INTERVAL_MIN, STATE_ENTRIES_MAX, StateTooLarge, weight
from streams_sql.processors.processor import (
    NEVER,
    Clock,
    KeylessProcessor,
    KeyOf,
    Processor,
    ReadingProcessor,
    TimedProcessor,
)

_order = itemgetter(0)


class Part(NamedTuple):
    """Of what an operator knows: its clock, and the states of some keys. That of a key of which nothing is known is None."""

    now: int
    sides: list[int]
    states: MutableMapping[Any, Any]


class Spilled(MutableMapping[Any, Any]):
    """States of which some are in memory, and the others elsewhere. One may be changed by who has got it until another one is asked for."""

    @abstractmethod
    def limit(self, keys_max: int) -> None:
        """So many stay in memory from now on."""

    @abstractmethod
    def in_memory(self) -> Iterator[Any]:
        """The states that are."""

    @abstractmethod
    def close(self) -> None: ...


Spill: TypeAlias = Callable[[dict[Any, Any], int], Spilled]
"""Takes states over, of which so many keys stay in memory."""


class Keyed:
    """One processor with the states of all its keys. A host that keeps these elsewhere, too, asks after each turn what has changed. With
    `spill`, that is where states go of which there are more than `entries_max`; without it, it is an error."""

    def __init__(self, processor: Processor, entries_max: int = STATE_ENTRIES_MAX, spill: Spill | None = None) -> None:
        self.processor = processor
        self._keyless = processor if isinstance(processor, KeylessProcessor) else None
        self._reading = processor if isinstance(processor, ReadingProcessor) else None
        self._states: MutableMapping[Any, Any] = {}
        self._spilled: Spilled | None = None
        self._spill = spill
        self._clock = Clock(len(processor.keys))
        self._entries_max = entries_max
        self._uncounted = 0
        self._touched: set[Any] | None = None
        self.entries = 0
        """Rows and values that are kept, when it was counted last."""

    def key_of(self, side: int) -> KeyOf:
        return self.processor.keys[side]

    def watch(self) -> None:
        """From now on, remember what changes."""
        self._touched = set()

    def changed(self) -> Part:
        """What may have changed since the last time, or since it is watched."""
        assert self._touched is not None
        part = Part(self._clock.now, self._clock.sides[:], {key: self._states.get(key) for key in self._touched})
        self._touched = set()
        return part

    def whole(self) -> Part:
        return Part(self._clock.now, self._clock.sides[:], self._states)

    def close(self) -> None:
        if self._spilled is not None:
            self._spilled.close()

    def restore(self, part: Part) -> None:
        """Know what was known once; parts come in the order in which they were made."""
        self._clock.now, self._clock.sides[:] = part.now, part.sides
        for key, state in part.states.items():
            if state is None:
                self._states.pop(key, None)
            else:
                self._states[key] = state
        self._watch_size(len(part.states))

    def push(self, side: int, rows: list[Any]) -> list[Any]:
        """What comes of rows of one input."""
        out: list[Any] = []
        if self._reading is not None and side == self._reading.reading_side:
            self._reading.read(rows, self._states, out)
            return out
        states, clock, keyless, touched = self._states, self._clock, self._keyless, self._touched
        key_of, take = self.processor.keys[side], self.processor.take
        for row in rows:
            key = key_of(row)
            if key is None:
                if keyless is not None:
                    keyless.take_keyless(side, row, clock, out)
                continue
            state = states.get(key)
            kept = take(key, state, side, row, clock, out)
            if touched is not None:
                touched.add(key)
            if kept is not state:
                if kept is None:
                    del states[key]
                else:
                    states[key] = kept
        self._watch_size(len(rows))
        return out

    def _watch_size(self, taken: int) -> None:
        """Counting costs as much as there is: it is done again when as much may have come."""
        self._uncounted += taken
        if self._uncounted >= max(COUNT_INTERVAL_MIN, self.entries):
            self._uncounted = 0
            states = self._states.values() if self._spilled is None else self._spilled.in_memory()
            weights = list(map(weight, states))
            self.entries = sum(weights)
            if self._spilled is not None or self.entries > self._entries_max:
                self._limit(len(weights) or 1)

    def _limit(self, keys: int) -> None:
        """See that no more is in memory than may be, of which so many keys are there now."""
        if self._spill is None:
            raise StateTooLarge
        keys_max = self._entries_max * keys // max(self.entries, 1)
        if self._spilled is None:
            self._states = self._spilled = self._spill(dict(self._states), keys_max)
        else:
            self._spilled.limit(keys_max)


class TimedKeyed(Keyed):
    """One whose processor waits for stream time. What is due is told before the row that moves the time on is taken."""

    def __init__(
        self, processor: TimedProcessor, entries_max: int = STATE_ENTRIES_MAX, spill: Spill | None = None
    ) -> None:
        super().__init__(processor, entries_max, spill)
        self._timed = processor
        self._timers: list[tuple[int, int, Any]] = []
        self._numbers = count()

    def push(self, side: int, rows: list[Any]) -> list[Any]:
        out: list[Any] = []
        states, clock, timers, keyless = self._states, self._clock, self._timers, self._keyless
        key_of, take, rowtime = self._timed.keys[side], self._timed.take, self._timed.rowtimes[side]
        for row in rows:
            key = key_of(row)
            if key is None:
                if keyless is not None:
                    keyless.take_keyless(side, row, clock, out)
                continue
            time = row[rowtime]
            if time >= clock.now:
                clock.now = time
                if timers and timers[0][0] <= time:
                    self._expire(out)
            state = states.get(key)
            due = NEVER if state is None else state[0]
            kept = take(key, state, side, row, clock, out)
            self._keep(key, state, due, kept)
            if time > clock.sides[side]:
                clock.sides[side] = time
        self._watch_size(len(rows))
        return out

    def advance(self, now: int) -> list[Any]:
        """What is due when stream time has come so far."""
        out: list[Any] = []
        if now > self._clock.now:
            self._clock.now = now
            self._expire(out)
        return out

    def finish(self) -> list[Any]:
        """What is due when no row comes any more: all time has passed."""
        return self.advance(NEVER - 1)

    def restore(self, part: Part) -> None:
        super().restore(part)
        for key, state in part.states.items():
            if state is not None:
                heappush(self._timers, (state[0], next(self._numbers), key))

    def _keep(self, key: Any, state: Any, due: int, kept: Any) -> None:
        if self._touched is not None:
            self._touched.add(key)
        if kept is None:
            if state is not None:
                del self._states[key]
            return
        if kept is not state:
            self._states[key] = kept
        if kept[0] < due:
            heappush(self._timers, (kept[0], next(self._numbers), key))

    def _expire(self, out: list[Any]) -> None:
        """What all keys have to tell, in order."""
        clock, told = self._clock, list[tuple[Any, Any]]()
        while self._timers and self._timers[0][0] <= clock.now:
            due, _, key = heappop(self._timers)
            state = self._states.get(key)
            if state is None or state[0] > due:
                # Its time was another one since, for which there is another timer.
                continue
            kept, of_key = self._timed.expire(key, state, clock)
            told += of_key
            self._keep(key, state, NEVER, kept)
        out.extend(row for _, row in _in_order(told))


def _in_order(told: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """By time, then by key, if keys can be compared."""
    try:
        return sorted(told, key=_order)
    except TypeError:
        return sorted(told, key=lambda pair: (pair[0][0], repr(pair[0][1:])))
