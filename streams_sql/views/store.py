"""The rows of one view in a SQLite database of their own, and how far the topic has been read, in the same transactions."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import Problem
from streams_sql.views.codecs import converted
from streams_sql.views.index_building import IndexBuilding
from streams_sql.views.layout import TABLE, Places, ViewLayout
from streams_sql.views.table_writing import Kept, TableWriting

Connection: TypeAlias = sqlite3.Connection

PROBLEMS_MAX: Final = 1_000
"""Records that could not be read, of which the latest are kept."""
CACHE_KB: Final = 16_384
"""Of each connection."""
MAPPED_BYTES: Final = 2**31
"""Of a view, in the address space of each reader: pages that are not in its cache are not copied from the system's by a call for each.
Measured on 10 million keys, a look-up takes 9.5 µs instead of 13.9, and 7.1 on 10,000."""
BUSY_S: Final = 10.0
PRUNES_PER_RETENTION: Final = 20
"""How often windows are looked through for old ones while the time of retention passes."""
MS_PER_S: Final = 1_000

_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_FACTS: Final = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL)",
    "CREATE TABLE problems (id INTEGER PRIMARY KEY, partition INTEGER, place INTEGER, reason TEXT)",
)

_logger = logging.getLogger(__name__)


class Facts(NamedTuple):
    """What a view knows of itself. `stream_time_ms` is the latest ROWTIME that it has seen."""

    topic_id: str | None
    positions: Mapping[int, int]
    stream_time_ms: int
    problem_count: int


class Store:
    """Written by one thread, read by any number of connections. `generation` grows when the database is begun anew: connections to
    an older one read what is gone by then, and have to be opened again."""

    def __init__(self, folder: Path, layout: ViewLayout) -> None:
        self.layout = layout
        self._folder = folder
        self._fingerprint = layout.fingerprint()
        self._writing = TableWriting(layout, TABLE)
        self._wanted: frozenset[Places] = frozenset()
        self._encoders = [(place, codec.encode) for place, codec in enumerate(layout.codecs) if codec.encode]
        self.generation, self._writer, self.facts = self._opened()
        self._building = IndexBuilding(self._writer, layout)
        self._pruned_ms = 0

    # --- life ---

    def _opened(self) -> tuple[int, Connection, Facts]:
        self._folder.mkdir(parents=True, exist_ok=True)
        generation = max((int(path.stem) for path in self._folder.glob("*.db")), default=0)
        if generation == 0:
            return self._made_anew(1, None)
        try:
            connection = _connect(self._path(generation))
            try:
                if _fact(connection, "fingerprint") == self._fingerprint:
                    return generation, connection, _facts(connection)
            except sqlite3.Error:
                connection.close()
                raise
            connection.close()
        except sqlite3.Error as error:
            _logger.warning("view %s is built anew from its topic: %s", self.layout.source.name, error)
        made = self._made_anew(generation + 1, None)
        _remove_databases(self._folder, kept=made[0])
        return made

    def _made_anew(self, generation: int, topic_id: str | None) -> tuple[int, Connection, Facts]:
        connection = _connect(self._path(generation))
        with _Transaction(connection):
            for statement in _FACTS:
                connection.execute(statement)
            IndexBuilding(connection, self.layout).begin()
            _put_facts(connection, fingerprint=self._fingerprint, topic_id=topic_id)
        return generation, connection, Facts(topic_id, {}, 0, 0)

    def begin_anew(self, topic_id: str | None) -> None:
        """Without any rows, for a topic of this id."""
        self._writer.close()
        self.generation, self._writer, self.facts = self._made_anew(self.generation + 1, topic_id)
        self._building = IndexBuilding(self._writer, self.layout)
        self._building.want(self._wanted)
        # Only now: until then readers looked for the former one.
        _remove_databases(self._folder, kept=self.generation)
        self._pruned_ms = 0

    def close(self) -> None:
        self._writer.close()

    def _path(self, generation: int) -> Path:
        # A new name each time, so that nobody can mix the log of one database with another.
        return self._folder / f"{generation}.db"

    # --- reading ---

    def reader(self) -> Connection:
        """A connection that only reads, for any thread, though only for one at a time."""
        while True:
            generation = self.generation
            try:
                connection = _connect(self._path(generation), must_exist=True)
            except sqlite3.OperationalError:
                if generation == self.generation:
                    raise
                # It has just been begun anew.
                continue
            connection.execute("PRAGMA query_only = ON")
            connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            return connection

    def problems(self) -> list[Problem]:
        """The latest records that could not be read, the last one first."""
        connection = self.reader()
        try:
            found = connection.execute("SELECT partition, place, reason FROM problems ORDER BY id DESC").fetchall()
        finally:
            connection.close()
        return [Problem(self.layout.source.topic, *each) for each in found]

    # --- writing ---

    def apply(self, rows: Sequence[Row], positions: Mapping[int, int], problems: Sequence[Problem]) -> None:
        """Put rows in, delete those without a value, and remember how far the topic has been read: all or nothing."""
        refused = list(problems)
        latest = self._latest(rows, refused)
        refused.sort(key=attrgetter("partition", "offset"))
        upserts = [row[:-1] for row in latest.values() if not row[-1][0]]
        deletes = [key for key, row in latest.items() if row[-1][0]]
        rowtime = self.layout.rowtime
        stream_time_ms = max(chain((self.facts.stream_time_ms,), (row[rowtime] for row in upserts)))
        facts = Facts(
            self.facts.topic_id,
            {**self.facts.positions, **positions},
            stream_time_ms,
            self.facts.problem_count + len(refused),
        )
        mirror = self._building.mirror
        expired_ms = self._expired_ms(stream_time_ms)
        with _Transaction(self._writer):
            for writing in (self._writing,) if mirror is None else (self._writing, mirror):
                writing.put(self._writer, upserts)
                writing.delete(self._writer, deletes)
                if expired_ms is not None:
                    writing.delete_ended(self._writer, expired_ms)
            self._note(facts, positions, refused)
        self._pruned_ms = self._pruned_ms if expired_ms is None else expired_ms
        self.facts = facts

    def know_topic(self, topic_id: str) -> None:
        with _Transaction(self._writer):
            _put_facts(self._writer, topic_id=topic_id)
        self.facts = self.facts._replace(topic_id=topic_id)

    def _latest(self, rows: Sequence[Row], refused: list[Problem]) -> dict[Kept, Row]:
        """The last row for each key, as it is kept."""
        key_count = self.layout.key_count
        latest: dict[Kept, Row] = {}
        for row in self._encoded(rows, refused):
            key = row[:key_count]
            if None in key:
                refused.append(self._problem(row, "A column of its key is NULL: a row of a table needs a whole one"))
            else:
                latest[key] = row
        return latest

    def _encoded(self, rows: Sequence[Row], refused: list[Problem]) -> Iterable[Row]:
        if not self._encoders or not rows:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        try:
            for place, encode in self._encoders:
                columns[place] = converted(columns[place], encode)
        except (ValueError, TypeError):
            return self._encoded_singly(rows, refused)
        return zip(*columns, strict=True)

    def _encoded_singly(self, rows: Sequence[Row], refused: list[Problem]) -> Iterable[Row]:
        """One of the rows cannot be kept."""
        for row in rows:
            fields = list(row)
            try:
                for place, encode in self._encoders:
                    fields[place] = None if fields[place] is None else encode(fields[place])
            except (ValueError, TypeError) as error:
                refused.append(self._problem(row, f"The view cannot keep it: {error}"))
            else:
                yield tuple(fields)

    def _problem(self, row: Row, reason: str) -> Problem:
        _, partition, offset = row[-1]
        return Problem(self.layout.source.topic, partition, offset, reason)

    def _expired_ms(self, stream_time_ms: int) -> int | None:
        """Windows that ended by then are to go now. A time that lies in the future does not make others old."""
        retention_ms = self.layout.retention_ms
        if retention_ms is None:
            return None
        expired_ms = min(stream_time_ms, int(time.time() * MS_PER_S)) - retention_ms
        return expired_ms if expired_ms >= self._pruned_ms + retention_ms // PRUNES_PER_RETENTION else None

    # --- indexes ---

    def want_indexes(self, wanted: Iterable[Places]) -> None:
        """From now on these, and no others. From any thread."""
        self._wanted = frozenset(wanted)
        self._building.want(self._wanted)

    @property
    def ready_indexes(self) -> frozenset[Places]:
        """Another object whenever they have changed."""
        return self._building.ready

    @property
    def copied_rows(self) -> int:
        """How far the indexes are that are being built."""
        return self._building.copied_rows

    def tend(self) -> bool:
        """Go on a little with the indexes; whether there is more to do."""
        if self._building.is_settled:
            return False
        try:
            with _Transaction(self._writer):
                return self._building.step()
        except sqlite3.Error:
            self._building.undo()
            raise

    def _note(self, facts: Facts, positions: Mapping[int, int], refused: Sequence[Problem]) -> None:
        self._writer.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?)", positions.items())
        _put_facts(self._writer, stream_time_ms=facts.stream_time_ms)
        if refused:
            _put_facts(self._writer, problem_count=facts.problem_count)
            self._writer.executemany(
                "INSERT INTO problems (partition, place, reason) VALUES (?, ?, ?)",
                [(problem.partition, problem.offset, problem.reason) for problem in refused[-PROBLEMS_MAX:]],
            )
            self._writer.execute("DELETE FROM problems WHERE id <= (SELECT max(id) FROM problems) - ?", (PROBLEMS_MAX,))


class _Transaction:
    """All or nothing. sqlite3's own `with connection` does not begin one for SELECT and DDL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is None:
            self._connection.execute("COMMIT")
        elif self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def remove_view(folder: Path) -> None:
    """Delete what a view has left; a folder that has other things in it stays."""
    _remove_databases(folder)
    with suppress(OSError):
        folder.rmdir()


def _remove_databases(folder: Path, kept: int | None = None) -> None:
    """All but that of a generation that is kept."""
    for path in folder.glob("*.db*"):
        if kept is None or not path.name.startswith(f"{kept}.db"):
            path.unlink(missing_ok=True)


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, so that only building it anew helps."""
    # The lower byte is the kind of error, the rest its details.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in _CORRUPT


def _connect(path: Path, *, must_exist: bool = False) -> Connection:
    # SQLite would make a database, without any tables, of one that was removed.
    place = f"{path.absolute().as_uri()}?mode={'rw' if must_exist else 'rwc'}"
    # It is told by `BEGIN` alone when a transaction begins.
    connection = sqlite3.connect(place, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=True)
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", f"cache_size = -{CACHE_KB}"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _fact(connection: Connection, name: str) -> Any:
    found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if found is None else found[0]


def _put_facts(connection: Connection, **facts: str | int | None) -> None:
    connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())


def _facts(connection: Connection) -> Facts:
    positions = dict(connection.execute("SELECT partition, next FROM positions"))
    return Facts(
        _fact(connection, "topic_id"),
        positions,
        _fact(connection, "stream_time_ms") or 0,
        _fact(connection, "problem_count") or 0,
    )
