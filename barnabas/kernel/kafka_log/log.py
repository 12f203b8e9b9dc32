"""What the state of a service is replayed from: a log of records by key, of which the last one counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias


class LogRecord(NamedTuple):
    """No value: what the key stands for is gone."""

    key: bytes
    value: bytes | None


Apply: TypeAlias = Callable[[Sequence[LogRecord]], None]
"""Called on the event loop with committed records, in their order."""


class Log(Protocol):
    """A topic, a file or memory alone."""

    @property
    def position(self) -> int:
        """How far the log has been applied; it never falls."""

    async def start(self) -> None:
        """Apply everything that there is, and go on with what follows."""

    async def stop(self) -> None: ...

    async def read_to_end(self) -> None:
        """Return when everything that was written before this call has been applied."""

    async def append(self, records: Sequence[LogRecord]) -> None:
        """Write records, all or none; they are durable and applied here when this returns. StoreFailure when that cannot be said."""


class ConfigLog(Log, Protocol):
    """The log of what the group was told, to which its leader alone may write."""

    async def lead(self) -> None:
        """Shut out former leaders, and read what they have written."""

    async def resign(self) -> None: ...


class MemoryLog:
    """The log of a standalone worker, which lives as long as the worker."""

    def __init__(self, apply: Apply) -> None:
        self.position = 0
        self._apply = apply

    async def start(self) -> None:
        """There is nothing yet."""

    async def stop(self) -> None:
        """Nothing is open."""

    async def lead(self) -> None:
        """Nobody else could."""

    async def resign(self) -> None:
        """Nobody else could."""

    async def read_to_end(self) -> None:
        """Everything is applied when it is written."""

    async def append(self, records: Sequence[LogRecord]) -> None:
        self.position += len(records)
        self._apply(records)
