"""Rows that become visible late, behind others that have been read already.

A transaction may take its number or its time early and commit late. By then the reader has gone past its place, and no query that asks
for what comes after would ever find the row. So each poll starts some way before the last row again, and what has been read before is
left out here.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from connect.connectors.jdbc.positions import Position

log = logging.getLogger(__name__)

ROWS_MAX: Final = 1_000_000
"""How many rows are remembered; a window with more is made shorter."""
DIGEST_BYTES: Final = 16


class Window(NamedTuple):
    """How far to look back, in time and in numbers."""

    time: timedelta = timedelta(0)
    numbers: int = 0

    @property
    def is_open(self) -> bool:
        return bool(self.time) or bool(self.numbers)

    def start(self, position: Position) -> Position:
        """From where a poll reads if rows up to the position have been read."""
        if position.timestamp is not None:
            return Position(_earlier(position.timestamp, self.time))
        return Position(None, None if position.incrementing is None else position.incrementing - self.numbers)


def _earlier(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment - span
    except OverflowError:
        return datetime.min.replace(tzinfo=moment.tzinfo)


class Lookback:
    """Remembers the rows of the window. Rows count by their contents: the same row may be there more than once."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._times_read: Counter[bytes] = Counter()
        self._positions: dict[bytes, Position] = {}
        self._times_seen: Counter[bytes] = Counter()
        self._earliest: Position | None = None

    def begin(self, position: Position) -> Position:
        """A poll begins: from where it reads if rows up to the position have been read."""
        self._times_seen.clear()
        start = self._window.start(position)
        if self._earliest is not None and start.order < self._earliest.order:
            start = self._earliest
        self._forget_until(start)
        return start

    def unread(self, rows: Sequence[Sequence[Any]], positions: Sequence[Position]) -> list[bool]:
        """Which of these rows have not been read before; all of them are from now on."""
        found = []
        for row, position in zip(rows, positions, strict=True):
            digest = blake2b(repr(row).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()
            self._times_seen[digest] += 1
            is_new = self._times_seen[digest] > self._times_read[digest]
            if is_new:
                self._times_read[digest] += 1
                self._positions[digest] = position
            found.append(is_new)
        if len(self._positions) > ROWS_MAX:
            self._shorten()
        return found

    def _shorten(self) -> None:
        places = sorted(self._positions.values(), key=lambda position: position.order)
        self._earliest = places[len(places) // 2]
        log.warning(
            "more than %d rows are in the window of look-back, which is shortened: it begins at %s now",
            ROWS_MAX,
            self._earliest,
        )
        self._forget_until(self._earliest)

    def _forget_until(self, start: Position) -> None:
        order = start.order
        for digest in [digest for digest, position in self._positions.items() if position.order <= order]:
            del self._positions[digest]
            del self._times_read[digest]
