"""Joins of a stream with a table in which no row matches since the rows of the table are later."""

from __future__ import annotations

from streams_sql.evaluation.compiler import OnError
from streams_sql.evaluation.time_texts import timestamp_text
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.plan.nodes import LookupJoin, reads_of


class JoinMatches:
    """Counts the rows of the stream until one matches. States that were restored say nothing of the rows that made them: then it does not
    warn."""

    def __init__(self, node: LookupJoin, on_error: OnError) -> None:
        self.is_watched = True
        """Whether no row has matched so far."""
        self._stream, self._table = (
            ", ".join(dict.fromkeys(read.source.name for read in reads_of(side))) for side in (node.stream, node.table)
        )
        self._on_error = on_error
        self._rows = 0
        self._latest_ms = 0
        self._earliest_ms: int | None = None
        self._reported_rows = 0

    def read(self, rows: int, latest_ms: int, *, is_matched: bool, has_restored: bool) -> None:
        """Rows of the stream, and the latest ROWTIME of theirs. `has_restored`: the table has rows."""
        if is_matched or (has_restored and self._earliest_ms is None):
            self.is_watched = False
            if self._reported_rows:
                self._on_error(JoinWarning(self._name))
            return
        self._latest_ms = latest_ms if not self._rows else max(self._latest_ms, latest_ms)
        self._rows += rows

    def take(self, rowtime_ms: int) -> None:
        """A row of the table."""
        self._earliest_ms = rowtime_ms if self._earliest_ms is None else min(self._earliest_ms, rowtime_ms)
        # Each time that twice as many rows have not matched: a number that changes with each row is no news.
        if self._rows and self._earliest_ms > self._latest_ms and self._rows >= 2 * self._reported_rows:
            self._reported_rows = self._rows
            self._on_error(JoinWarning(self._name, self._text(self._earliest_ms)))

    @property
    def _name(self) -> str:
        return f"{self._stream} JOIN {self._table}"

    def _text(self, earliest_ms: int) -> str:
        return (
            f"0 of {self._rows} rows of {self._stream} matched: a row is joined with what {self._table} had at its timestamp, and all rows "
            f"of {self._table} are later. Latest timestamp of {self._stream}: {timestamp_text(self._latest_ms)}, earliest timestamp of "
            f"{self._table}: {timestamp_text(earliest_ms)}. Declare {self._table} with a TIMESTAMP column that holds the earlier times, or "
            "load it before the stream."
        )
