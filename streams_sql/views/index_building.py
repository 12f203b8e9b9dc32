"""Indexes of a view: made, and dropped, in small steps between the batches of its tailing.

SQLite makes an index in one go, during which nobody can write. So a large table is copied, some thousand rows at a time, into one that
has the indexes from its beginning; what is tailed meanwhile is written to both. When all rows are there, the copy takes the place of the
table, which is emptied in steps of its own. After a crash the copy is thrown away, and begun anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from streams_sql.views.layout import TABLE, Places, ViewLayout, column_name
from streams_sql.views.table_writing import TableWriting

COPY: Final = f"{TABLE}_copy"
FORMER: Final = f"{TABLE}_former"
STEP_ROWS: Final = 10_000
"""Copied or deleted at once: some hundredths of a second."""
SMALL_ROWS: Final = 50_000
"""A table of so many rows is given an index at once."""

_NAME: Final = re.compile(r"ix\d+((?:_\d+)+)")


class IndexBuilding:
    """Used by the thread that writes, but for `want`. `ready` are the indexes that are there; it is another object whenever they change."""

    def __init__(self, connection: Any, layout: ViewLayout) -> None:
        self._connection = connection
        self._layout = layout
        self._key = ", ".join(layout.key_names)
        self._wanted = layout.own_indexes
        self._settled: frozenset[Places] | None = None
        """What was wanted when nothing was left to do."""
        self._copied: frozenset[Places] | None = None
        """The indexes of the copy, while one is made."""
        self._behind: tuple[Any, ...] | None = None
        self.copied_rows = 0
        self.ready = frozenset(self._found())

    def begin(self) -> None:
        """Of a database without rows."""
        self._connection.execute(self._layout.table_statement(TABLE))
        for places in self._wanted:
            self._create(TABLE, places)
        self.ready = frozenset(self._found())

    def want(self, wanted: Iterable[Places]) -> None:
        self._wanted = frozenset(wanted) | self._layout.own_indexes

    @property
    def is_settled(self) -> bool:
        return self._settled is self._wanted

    @property
    def mirror(self) -> TableWriting | None:
        """Where rows have to be written, too."""
        return None if self._copied is None else TableWriting(self._layout, COPY)

    def step(self) -> bool:
        """Do a little; whether there is more to do. To be called in a transaction."""
        wanted = self._wanted
        superfluous = next(iter(self.ready - wanted), None)
        if superfluous is not None:
            self._connection.execute(f"DROP INDEX {self._found()[superfluous]}")
            self.ready = frozenset(self._found())
            return True
        if self._copied is not None and self._copied != wanted:
            self._copied = None
        for table in (FORMER, COPY):
            if not (table == COPY and self._copied is not None) and self._exists(table):
                self._empty(table)
                return True
        if self._copied is not None:
            self._copy()
            return True
        missing = wanted - self.ready
        if missing and self._is_small():
            for places in missing:
                self._create(TABLE, places)
            self.ready = frozenset(self._found())
        elif missing:
            self._begin_copy(wanted)
            return True
        self._settled = wanted
        return False

    def undo(self) -> None:
        """The transaction of a step has failed."""
        self._copied = self._settled = None
        self.ready = frozenset(self._found())

    # --- steps ---

    def _begin_copy(self, wanted: frozenset[Places]) -> None:
        self._connection.execute(self._layout.table_statement(COPY))
        for places in wanted:
            self._create(COPY, places)
        self._copied, self._behind, self.copied_rows = wanted, None, 0

    def _copy(self) -> None:
        last = self._key_after(TABLE, self._behind)
        bounds = [self._bound(">", self._behind), self._bound("<=", last)]
        condition = " AND ".join(text for text, _ in bounds)
        # Rows that have been written to both since are newer.
        copied = self._connection.execute(
            f"INSERT OR IGNORE INTO {COPY} SELECT * FROM {TABLE} WHERE {condition}",  # noqa: S608 - all names are our own
            [value for _, values in bounds for value in values],
        )
        self.copied_rows += copied.rowcount
        self._behind = last
        if last is None:
            self._connection.execute(f"ALTER TABLE {TABLE} RENAME TO {FORMER}")
            self._connection.execute(f"ALTER TABLE {COPY} RENAME TO {TABLE}")
            self._copied = None
            self.ready = frozenset(self._found())

    def _empty(self, table: str) -> None:
        last = self._key_after(table, None)
        if last is None:
            self._connection.execute(f"DROP TABLE {table}")
        else:
            text, values = self._bound("<=", last)
            self._connection.execute(f"DELETE FROM {table} WHERE {text}", values)  # noqa: S608 - the same

    # --- questions ---

    def _key_after(self, table: str, behind: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        """The key of the last row of the next step; None: the table ends before."""
        text, values = self._bound(">", behind)
        found: tuple[Any, ...] | None = self._connection.execute(
            f"SELECT {self._key} FROM {table} WHERE {text} ORDER BY {self._key} LIMIT 1 OFFSET {STEP_ROWS - 1}",  # noqa: S608
            values,
        ).fetchone()
        return found

    def _bound(self, sign: str, key: tuple[Any, ...] | None) -> tuple[str, tuple[Any, ...]]:
        if key is None:
            return "1", ()
        return f"({self._key}) {sign} ({', '.join('?' * len(key))})", key

    def _is_small(self) -> bool:
        few = f"SELECT 1 FROM {TABLE} LIMIT {SMALL_ROWS + 1}"  # noqa: S608 - the same
        (count,) = self._connection.execute(f"SELECT count(*) FROM ({few})").fetchone()  # noqa: S608
        return bool(count <= SMALL_ROWS)

    def _exists(self, table: str) -> bool:
        return self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None

    def _create(self, table: str, places: Places) -> None:
        names = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        suffix = "".join(f"_{place}" for place in places)
        number = next(number for number in range(len(names) + 1) if f"ix{number}{suffix}" not in names)
        columns = ", ".join(map(column_name, places))
        self._connection.execute(f"CREATE INDEX ix{number}{suffix} ON {table} ({columns})")

    def _found(self) -> dict[Places, str]:
        """The indexes of the table, with their names in SQLite."""
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?", (TABLE,)
        )
        found = {places_of(name): name for (name,) in rows}
        return {places: name for places, name in found.items() if places}


def places_of(name: str) -> Places:
    """The columns of an index, by its name in SQLite; none of one that is not ours."""
    match = _NAME.fullmatch(name)
    return () if match is None else tuple(int(place) for place in match[1][1:].split("_"))
