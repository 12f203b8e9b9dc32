"""What a query may keep in memory while it sorts, groups and joins."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from streams_sql.problem import SqlProblem

MEMORY_SETTING: Final = "sql.pull.memory.max.bytes"
MEMORY_BYTES: Final = 256 * 1024 * 1024
SAMPLES: Final = 8
"""How many values of many are looked at: sizes are estimates."""
ENTRY_BYTES: Final = 100
"""What a dictionary needs for an entry beside the key and the value."""


class MemorySpent(SqlProblem):
    """A query that would keep more in memory than it may."""


class Memory:
    """Of one query, shared by its steps."""

    def __init__(self, bytes_max: int = MEMORY_BYTES) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0

    def share(self, purpose: str) -> Share:
        return Share(self, purpose)

    def take(self, number: int, purpose: str) -> None:
        self._bytes += number
        if self._bytes > self._bytes_max:
            raise MemorySpent(
                f"{purpose} would take more than {self._bytes_max} bytes of memory, which is all that {MEMORY_SETTING} allows. "
                "Ask for fewer rows or columns with WHERE, LIMIT or a shorter select list, or set it higher."
            )


class Share:
    """What one step keeps."""

    def __init__(self, memory: Memory, purpose: str) -> None:
        self._memory = memory
        self._purpose = purpose
        self._bytes = 0

    def add(self, rows: Sequence[Any]) -> None:
        """These are kept from now on."""
        self.hold(self._bytes + estimated(rows, len(rows)))

    def hold(self, number: int) -> None:
        """So many bytes are kept now, in place of those before."""
        self._memory.take(number - self._bytes, self._purpose)
        self._bytes = number


def estimated(values: Iterable[Any], count: int) -> int:
    """The bytes of `count` values, of which some are looked at."""
    step = max(1, count // SAMPLES)
    samples = [_size(value) for value in islice(values, 0, None, step)]
    return count * sum(samples) // len(samples) if samples else 0


def _size(value: Any) -> int:
    if isinstance(value, Mapping):
        return sys.getsizeof(value) + estimated(value.items(), len(value))
    if isinstance(value, Collection) and not isinstance(value, str | bytes | bytearray):
        return sys.getsizeof(value) + estimated(value, len(value))
    return sys.getsizeof(value)
