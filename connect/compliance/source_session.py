"""Reading a source as a task does, and knowing after each batch how far it has come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from connect.api.record import Record
from connect.api.source import Batch, Idle, JsonObject, Offsets, Source, SourceOffset
from connect.tasks.coroutine_runner import CoroutineRunner

IDLES_AT_END: Final = 3
"""A source that has nothing so many times in a row is read to its end."""
PAUSE_MAX_S: Final = 0.01
ITEMS_MAX: Final = 100_000


class SourceSession:
    """A source that is read from offsets on, which go through JSON first, as they do in the topic of offsets."""

    def __init__(self, source: Source[Any], offsets: Sequence[SourceOffset] = ()) -> None:
        self._coroutines = CoroutineRunner()
        shards = json.loads(json.dumps(list(source.shards())))
        stored = [SourceOffset(*json.loads(json.dumps(each))) for each in offsets]
        self._items: Iterator[Batch | Idle] = self._coroutines.items(source.read(shards, Offsets(stored)))

    def next(self) -> Batch | Idle | None:
        """None when the source says that there will never be more."""
        return next(self._items, None)

    def batches(self) -> list[Batch]:
        """Everything up to the end that the source has now."""
        found: list[Batch] = []
        idles = 0
        for _ in range(ITEMS_MAX):
            item = self.next()
            if item is None or idles == IDLES_AT_END:
                return found
            if isinstance(item, Idle):
                idles += 1
                time.sleep(min(item.seconds, PAUSE_MAX_S))
            else:
                idles = 0
                found.append(item)
        raise AssertionError(f"the source comes to no end within {ITEMS_MAX} batches: arrange one that has an end")

    def close(self) -> None:
        close = getattr(self._items, "close", None)
        if close is not None:
            close()
        self._coroutines.close()


def records_of(batches: Sequence[Batch]) -> list[Record]:
    return [record for batch in batches for record in batch.records]


def reached_after(batches: Sequence[Batch]) -> list[SourceOffset]:
    """How far each part has come after these batches; what was forgotten is left out."""
    reached: dict[str, tuple[JsonObject, JsonObject | None]] = {}
    for batch in batches:
        for partition, offset in batch.offsets:
            reached[json.dumps(partition, sort_keys=True)] = (partition, offset)
    return [SourceOffset(partition, offset) for partition, offset in reached.values() if offset is not None]
