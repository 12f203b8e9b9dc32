"""Writing to a sink as a task does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from connect.api.record import Record
from connect.api.sink import Sink
from connect.errors import DataError
from connect.tasks.coroutine_runner import CoroutineRunner


class SinkSession:
    """A sink between its start and its stop."""

    def __init__(self, sink: Sink[Any]) -> None:
        self.sink = sink
        self._coroutines = CoroutineRunner()

    def __enter__(self) -> SinkSession:
        self.sink.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.sink.stop()
        self._coroutines.close()

    def write(self, records: Sequence[Record], start: int = 0) -> list[int]:
        """The places of the records that were rejected. A batch that is refused as a whole is halved."""
        try:
            rejected = self._coroutines.result(self.sink.write(records)) or ()
        except DataError:
            if len(records) == 1:
                return [start]
            middle = len(records) // 2
            return [*self.write(records[:middle], start), *self.write(records[middle:], start + middle)]
        return [start + each.place for each in rejected]

    def flush(self) -> None:
        self.sink.flush()
