"""States of more keys than fit into memory: those that were used longest ago lie in a file, and are read again when they are asked for.

The file is a cache and no more: what counts is in Spark's state store. It has no name from the moment it is open, so that a worker leaves
nothing behind however it ends.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any, Final

from streams_sql.local.keyed import Spilled

CACHE_KB: Final = 8_192
"""Pages of the file in memory."""
KEYS_MIN: Final = 1_000
"""Kept in memory whatever their size."""

_FOLDERS: Final = "SPARK_LOCAL_DIRS"
"""Where Spark tells its workers to put what is large."""
_PUT: Final = "INSERT OR REPLACE INTO states VALUES (?, ?)"
_GET: Final = "SELECT pair FROM states WHERE key = ?"
_DELETE: Final = "DELETE FROM states WHERE key = ?"


class SpilledStates(Spilled):
    """Keys in memory are of two generations: one that is used moves to the younger, and when that has half of all keys that may stay, the
    older one goes to the file. A state may be changed by who has got it until another one is asked for."""

    def __init__(self, states: dict[Any, Any], keys_max: int) -> None:
        self._file = _opened()
        self._young: dict[Any, Any] = {}
        self._old = states
        self._half = 0
        self.limit(keys_max)
        self._age()

    def limit(self, keys_max: int) -> None:
        self._half = max(keys_max, KEYS_MIN) // 2

    def in_memory(self) -> Iterator[Any]:
        yield from self._young.values()
        yield from self._old.values()

    def get(self, key: Any, default: Any = None) -> Any:
        state = self._young.get(key)
        if state is not None:
            return state
        state = self._found(key)
        return default if state is None else state

    def _found(self, key: Any) -> Any:
        state = self._old.pop(key, None)
        if state is None:
            row = self._file.execute(_GET, (_name(key),)).fetchone()
            if row is None:
                return None
            state = pickle.loads(row[0])[1]  # noqa: S301 - written by this process
        self[key] = state
        return state

    def __getitem__(self, key: Any) -> Any:
        state = self.get(key)
        if state is None:
            raise KeyError(key)
        return state

    def __setitem__(self, key: Any, state: Any) -> None:
        if len(self._young) >= self._half:
            self._age()
        self._young[key] = state

    def __delitem__(self, key: Any) -> None:
        self._young.pop(key, None)
        self._old.pop(key, None)
        self._file.execute(_DELETE, (_name(key),))

    def pop(self, key: Any, default: Any = None) -> Any:
        state = self.get(key, default)
        del self[key]
        return state

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._pairs())

    def items(self) -> Any:
        """Once through all of them, in no order; nothing may be asked for meanwhile."""
        return self._pairs()

    def __len__(self) -> int:
        return sum(1 for _ in self._pairs())

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        yield from self._young.items()
        yield from ((key, state) for key, state in self._old.items() if key not in self._young)
        for (pair,) in self._file.execute("SELECT pair FROM states"):
            key, state = pickle.loads(pair)  # noqa: S301 - written by this process
            if key not in self._young and key not in self._old:
                yield key, state

    def _age(self) -> None:
        rows = [
            (_name(pair[0]), pickle.dumps(pair, pickle.HIGHEST_PROTOCOL))
            for pair in self._old.items()
            if pair[0] not in self._young
        ]
        # In their order in the file: neighbours are on one page.
        rows.sort()
        self._file.execute("BEGIN")
        self._file.executemany(_PUT, rows)
        self._file.execute("COMMIT")
        self._young, self._old = {}, self._young

    def close(self) -> None:
        self._file.close()


def _name(key: Any) -> bytes:
    """Equal keys are written alike."""
    return repr(key).encode(errors="surrogatepass")


def _opened() -> sqlite3.Connection:
    folder = os.environ.get(_FOLDERS, "").split(",")[0] or None
    descriptor, path = tempfile.mkstemp(prefix="states-", dir=folder)
    os.close(descriptor)
    try:
        file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # Nobody else has it, and nobody reads it after a crash.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            file.execute(f"PRAGMA {setting}")
        file.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        file.execute("CREATE TABLE states (key BLOB PRIMARY KEY, pair BLOB NOT NULL) WITHOUT ROWID")
    finally:
        os.unlink(path)
    return file
