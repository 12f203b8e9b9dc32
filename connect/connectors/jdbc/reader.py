"""Reads one table, or the answer of one query, poll by poll."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, types
from sqlalchemy.types import TypeEngine

from connect.api.source import Batch, SourceOffset
from connect.connectors.jdbc.column_readings import ReadingRules
from connect.connectors.jdbc.database import Database, MissingTableError
from connect.connectors.jdbc.drivers import streaming_cursor
from connect.connectors.jdbc.failures import FailureKind
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.increments import IncrementRules
from connect.connectors.jdbc.layouts import Layout, Row
from connect.connectors.jdbc.lookback import Lookback, Window
from connect.connectors.jdbc.loose_times import EPOCH, loose_datetime
from connect.connectors.jdbc.positions import Position
from connect.connectors.jdbc.queries import Selection, Statement, Target
from connect.connectors.jdbc.result_columns import result_columns
from connect.connectors.jdbc.row_positions import RowPositions
from connect.connectors.jdbc.session import Session
from connect.connectors.jdbc.tables import Column, Table
from connect.errors import Retry

log = logging.getLogger(__name__)

BATCHES_PER_PAGE: Final = 20
PAGES_PER_TURN: Final = 10
"""After so many pages of a long table, others have their turn."""
LAYOUT_ATTEMPTS_MAX: Final = 5
NOW: Final = -1
"""The initial timestamp that stands for the database's clock."""


class _ColumnsChangedError(Exception):
    """An answer has other columns than the table had when it was looked at."""


@dataclass(frozen=True, slots=True)
class ReaderRules:
    """What settings say about all readers of a task."""

    increments: IncrementRules
    readings: ReadingRules
    batch_rows: int
    window: Window
    delay: timedelta
    initial_ms: int | None
    suffix: str


class Reader:
    """Goes on after a position. It asks the database for new rows at each poll, and for what it must know of the table once."""

    def __init__(
        self,
        database: Database,
        target: Target,
        topic: str,
        partition: Mapping[str, str],
        position: Position,
        rules: ReaderRules,
    ) -> None:
        self.target = target
        self.has_more = False
        """Whether the last poll has left rows for the next, so that others have their turn."""
        self._database = database
        self._topic = topic
        self._partition = partition
        self._position = position
        self._rules = rules
        self._lookback = Lookback(rules.window) if rules.window.is_open else None
        self._table: Table | None = None
        self._selection: Selection | None = None
        self._layout: Layout | None = None
        self._places: RowPositions | None = None
        self._signature: Sequence[Any] = ()

    def poll(self, session: Session) -> Iterator[Batch]:
        """Yield what is new. MissingTableError when the table is gone; other failures as `Database.failure` names them."""
        for _ in range(LAYOUT_ATTEMPTS_MAX):
            try:
                yield from self._poll(session.begin())
                session.end()
                return
            except _ColumnsChangedError:
                log.info("the columns of %s have changed", self.target)
                self._forget(session)
            except MissingTableError:
                self._forget(session)
                raise
            except self._database.errors as error:
                kind = self._database.kind_of(error)
                if kind is FailureKind.MISSING_TABLE:
                    self._forget(session)
                    raise MissingTableError(self.target.table or "that the query names") from None
                if kind is not FailureKind.DATA or not session.bound_times():
                    raise self._database.failure(error, f"cannot read {self.target}") from None
        raise Retry(f"the columns of {self.target} change all the time", self._database.retry_after_s)

    def _forget(self, session: Session) -> None:
        self._selection = self._layout = None
        session.renew()

    def _poll(self, connection: Connection) -> Iterator[Batch]:
        selection = self._selection or self._prepared(connection)
        before = None
        if selection.timestamps is not None:
            now = self._clock(connection)
            before = now - self._rules.delay
            yield from self._initial(now)
        after = self._position if self._lookback is None else self._lookback.begin(self._position)
        # A window of look-back is read from its start each time, so it must be read to its end.
        for _ in range(PAGES_PER_TURN) if self._lookback is None else itertools.count():
            rows_read = 0
            for rows, following in _with_following(
                self._chunks(connection, selection, selection.statement(after, before))
            ):
                rows_read += len(rows)
                if self._places is not None:
                    after = self._places.position(rows[-1])
                batch = self._batch(rows, following)
                if batch is not None:
                    yield batch
            self.has_more = selection.page_rows is not None and rows_read >= selection.page_rows
            if not self.has_more:
                return

    # --- the question ---

    def _prepared(self, connection: Connection) -> Selection:
        """What to ask for; a table is looked at first."""
        selection = self._selection_of_query() if self.target.table is None else self._selection_of_table(connection)
        if not selection.increment.timestamps:
            self._selection = selection
            return selection
        sample = self._sample(connection, selection)
        kind = self._timestamp_type(connection, selection)
        selection = replace(selection, timestamps=self._rules.readings.timestamps(kind, sample))
        # An empty table does not show how it writes times, so the next poll looks again.
        if sample is not None or not self._database.capabilities.has_loose_types:
            self._selection = selection
        return selection

    def _selection_of_query(self) -> Selection:
        increment = self._rules.increments.of_query()
        database = self._database
        return Selection(self.target, increment, database.identifiers, database.capabilities, suffix=self._rules.suffix)

    def _selection_of_table(self, connection: Connection) -> Selection:
        """Pages need an order that an index gives, else each of them would sort the whole table."""
        assert self.target.table is not None
        database, rules = self._database, self._rules
        table = self._table = database.describe(connection, self.target.table)
        if table is None:
            raise MissingTableError(self.target.table)
        increment = rules.increments.of(table)
        order = increment.timestamps or (increment.incrementing,)
        has_pages = increment.incrementing is not None and len(order) == 1 and order[0] in table.indexed
        return Selection(
            self.target,
            increment,
            database.identifiers,
            database.capabilities,
            suffix=rules.suffix,
            page_rows=rules.batch_rows * BATCHES_PER_PAGE if has_pages and not rules.suffix else None,
        )

    def _sample(self, connection: Connection, selection: Selection) -> Any:
        if not self._database.capabilities.has_loose_types:
            return None
        return connection.exec_driver_sql(selection.sample().text).scalar()

    def _timestamp_type(self, connection: Connection, selection: Selection) -> TypeEngine[Any]:
        name = selection.increment.timestamps[0]
        columns = self._table or Table(TableName(None, name), tuple(self._columns_of_query(connection, selection)))
        column = columns.column(name)
        return types.NullType() if column is None else column.type

    def _columns_of_query(self, connection: Connection, selection: Selection) -> list[Column]:
        with closing(connection.connection.cursor()) as cursor:
            statement = selection.no_rows()
            cursor.execute(statement.text, statement.parameters)
            return result_columns(connection, cursor, self.target.query, ())

    def _clock(self, connection: Connection) -> datetime:
        now = connection.exec_driver_sql(self._database.capabilities.now).scalar_one()
        moment: datetime = loose_datetime(now, UTC) if isinstance(now, str) else now
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)

    def _initial(self, now: datetime) -> Iterator[Batch]:
        """Where a table is begun that was never read. The clock is read once, so its time is kept as an offset at once."""
        initial = self._rules.initial_ms
        if initial is None or self._position != Position():
            return
        self._position = Position(now if initial == NOW else EPOCH + timedelta(milliseconds=initial))
        yield Batch((), (self._offset(),))

    # --- the answer ---

    def _chunks(self, connection: Connection, selection: Selection, statement: Statement) -> Iterator[list[Row]]:
        """The answer in parts. A page is read at once where others cannot write meanwhile."""
        size, capabilities = self._rules.batch_rows, self._database.capabilities
        with streaming_cursor(connection, capabilities) as cursor:
            cursor.execute(statement.text, *(() if statement.parameters is None else (statement.parameters,)))
            rows: list[Row] = cursor.fetchmany(size)
            if rows:
                self._look_at_columns(connection, selection, cursor, rows)
            if capabilities.has_blocking_reads and selection.page_rows is not None:
                rows += cursor.fetchall()
            else:
                while rows:
                    yield rows
                    rows = cursor.fetchmany(size)
        yield from (rows[start : start + size] for start in range(0, len(rows), size))

    def _look_at_columns(
        self, connection: Connection, selection: Selection, cursor: Any, sample: Sequence[Row]
    ) -> None:
        """See whether the answer has the columns that are known."""
        signature = [tuple(column)[:2] for column in cursor.description]
        if self._layout is not None:
            if signature == self._signature:
                return
            raise _ColumnsChangedError
        columns = self._columns(connection, cursor, sample)
        name = None if self.target.table is None else self.target.table.name
        self._layout = Layout.of(self._topic, name, columns, self._rules.readings, sample)
        self._signature = signature
        self._places = None
        if selection.is_ordered:
            names = self._layout.names
            self._places = RowPositions.of(str(self.target), selection.increment, selection.timestamps, names)

    def _columns(self, connection: Connection, cursor: Any, sample: Sequence[Row]) -> list[Column]:
        if self._table is None:
            return result_columns(connection, cursor, self.target.query, sample)
        found = [self._table.column(column[0]) for column in cursor.description]
        columns = [column for column in found if column is not None]
        if len(columns) != len(found):
            raise _ColumnsChangedError
        return columns

    def _batch(self, rows: Sequence[Row], following: Sequence[Row] | None) -> Batch | None:
        """The new ones among these rows; None if there is nothing to tell."""
        assert self._layout is not None
        if self._places is None:
            converted = self._layout.converted(rows)
            return Batch(converted.records, (), converted.rejected)
        reached = max(self._position, self._reached(self._places, rows, following), key=lambda each: each.order)
        has_moved, self._position = reached != self._position, reached
        if self._lookback is not None:
            unread = self._lookback.unread(rows, [self._places.position(row) for row in rows])
            rows = [row for row, is_unread in zip(rows, unread, strict=True) if is_unread]
        if not rows and not has_moved:
            return None
        converted = self._layout.converted(rows)
        offsets = (self._offset(),) if self._position != Position() else ()
        return Batch(converted.records, offsets, converted.rejected)

    def _reached(self, places: RowPositions, rows: Sequence[Row], following: Sequence[Row] | None) -> Position:
        """The position after these rows. A time alone may go on in the rows that follow, and is reached with its last row."""
        last = places.position(rows[-1])
        if places.are_unique or following is None or places.position(following[0]) != last:
            return last
        earlier = (position for row in reversed(rows) if (position := places.position(row)) != last)
        return next(earlier, self._position)

    def _offset(self) -> SourceOffset:
        return SourceOffset(self._partition, self._position.as_offset())


def _with_following(chunks: Iterator[list[Row]]) -> Iterator[tuple[list[Row], list[Row] | None]]:
    """Each chunk with the one behind it; None behind the last."""
    current = next(chunks, None)
    while current is not None:
        following = next(chunks, None)
        yield current, following
        current = following
