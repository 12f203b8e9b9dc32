"""Puts rows into a table of a view's database, and deletes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from streams_sql.views.layout import ViewLayout, column_name

Kept: TypeAlias = tuple[Any, ...]

ROWS_TOGETHER: Final = 50
"""Rows of one INSERT. SQLite gives up Python's lock for each statement, and has to wait for it if others want it."""
PARAMETERS_MAX: Final = 30_000
"""Of one statement; SQLite takes a few more."""


class TableWriting:
    """Of one table with the layout of the view."""

    def __init__(self, layout: ViewLayout, table: str) -> None:
        self._rows_together = max(1, min(ROWS_TOGETHER, PARAMETERS_MAX // layout.width))
        self._upsert_one = _upsert(layout, table, 1)
        self._upsert_many = _upsert(layout, table, self._rows_together)
        key = " AND ".join(f"{name} = ?" for name in layout.key_names)
        self._delete = f"DELETE FROM {table} WHERE {key}"  # noqa: S608 - all names are our own
        ends = column_name(layout.window_end or 0)
        self._delete_ended = f"DELETE FROM {table} WHERE {ends} <= ?"  # noqa: S608 - the same

    def put(self, connection: Any, rows: list[Kept]) -> None:
        together = self._rows_together
        whole = len(rows) - len(rows) % together
        batches = (rows[start : start + together] for start in range(0, whole, together))
        connection.executemany(self._upsert_many, (list(chain.from_iterable(batch)) for batch in batches))
        connection.executemany(self._upsert_one, rows[whole:])

    def delete(self, connection: Any, keys: Sequence[Kept]) -> None:
        connection.executemany(self._delete, keys)

    def delete_ended(self, connection: Any, end_ms: int) -> None:
        """Windows that ended by then."""
        connection.execute(self._delete_ended, (end_ms,))


def _upsert(layout: ViewLayout, table: str, rows: int) -> str:
    row = f"({', '.join('?' * layout.width)})"
    return f"INSERT OR REPLACE INTO {table} VALUES {', '.join([row] * rows)}"  # noqa: S608 - the same
