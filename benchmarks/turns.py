"""What the programs do alike: measure contestants turn by turn, choose rows by name, tell how far they are."""

from __future__ import annotations

import fnmatch
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

LEAST_REPEATS = 3
T = TypeVar("T")


class Named(Protocol):
    @property
    def name(self) -> str: ...


R = TypeVar("R", bound=Named)


def say(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def turns(contestants: Sequence[T], repeat: int) -> Iterator[tuple[int, T]]:
    """Turn by turn; who goes first changes each time."""
    for number in range(repeat):
        order = contestants if number % 2 == 0 else contestants[::-1]
        for contestant in order:
            yield number, contestant


def choose(rows: Sequence[R], patterns: Sequence[str]) -> list[R]:
    """The rows that one of the patterns names, in their own order."""
    for pattern in patterns:
        if not any(fnmatch.fnmatch(row.name, pattern) for row in rows):
            raise ValueError(f"no row is named {pattern!r}; the rows are: {', '.join(row.name for row in rows)}")
    return [row for row in rows if any(fnmatch.fnmatch(row.name, pattern) for pattern in patterns)]
