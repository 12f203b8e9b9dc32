"""How far a query may read, told to those who plan its batches: for each of its topics that is a process beside Spark's driver.

A file is all that they have in common while a query runs. Where there is none, nothing is bounded; but a query that has to have bounds reads
nothing then.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

Offsets: TypeAlias = Mapping[int, int]


class Bounds:
    """Of one run of a query, for any thread. `path` is a file of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._offsets: dict[str, dict[int, int]] = {}
        self._is_closed = False

    def raise_to(self, positions: Mapping[str, Offsets]) -> None:
        """Let records before these positions be read, and in partitions of these topics that they do not name none. What was allowed
        before stays so."""
        with self._lock:
            if self._is_closed:
                return
            for topic, offsets in positions.items():
                known = self._offsets.setdefault(topic, {})
                known.update({partition: max(at, known.get(partition, 0)) for partition, at in offsets.items()})
            self._write(self._offsets)

    def close(self, topics: Iterable[str], last: Mapping[str, Offsets] | None = None) -> None:
        """Let no more records of these topics be read, for good: a batch that begins from now on has none. With `last`, those before these
        positions may still be."""
        with self._lock:
            self._is_closed = True
            self._write({**{topic: {} for topic in topics}, **(last or {})})

    def remove(self) -> None:
        with self._lock:
            self._is_closed = True
            self.path.unlink(missing_ok=True)

    def _write(self, offsets: Mapping[str, Offsets]) -> None:
        """Who reads it meanwhile finds one or the other."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(offsets))
        new.replace(self.path)


def bounds_of(path: str, topic: str, *, must_be: bool) -> Offsets | None:
    """Where reading of a topic has to end now; None where it need not."""
    try:
        offsets = json.loads(Path(path).read_text()).get(topic)
    except FileNotFoundError:
        return {} if must_be else None
    return None if offsets is None else {int(partition): at for partition, at in offsets.items()}


def bounded(begun: Offsets, ends: Offsets, bounds: Offsets) -> dict[int, int]:
    """The ends of partitions as far as they may be read. What has been read stays so."""
    return {
        partition: max(begun.get(partition, 0), min(end, bounds.get(partition, 0)))
        for partition, end in ends.items()
        if partition in begun or partition in bounds
    }
