"""Batches of records on their way into tables: all of them in one transaction, except for the bad ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from connect.api.record import Record
from connect.api.sink import RejectedRecord
from connect.connectors.jdbc.database import Database
from connect.connectors.jdbc.failures import text_of
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.layouts import UNCONVERTIBLE
from connect.connectors.jdbc.writing.layouts import Layout, Layouts
from connect.connectors.jdbc.writing.run_writer import RunWriter
from connect.connectors.jdbc.writing.runs import Run, RunRules, by_topic
from connect.connectors.jdbc.writing.stored_offsets import StoredOffsets
from connect.connectors.jdbc.writing.transactions import Transactions
from connect.data.mismatch import Mismatch
from connect.errors import ConnectError, DataError, Retry


class _Piece(NamedTuple):
    """Records that stand one behind the other in their batch, from `start` on, with the runs they make and the tables' layouts."""

    start: int
    records: Sequence[Record]
    runs: Sequence[tuple[Run, Layout]]


class _Undo(Exception):
    """Ends a transaction without its changes."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """`offsets` are None unless each record is to be written once. `hides_values`: no message contains values of a row. Unless it
    `tolerates_rejected` records, nothing of a batch that has one is written."""

    database: Database
    transactions: Transactions
    layouts: Layouts
    run_rules: RunRules
    run_writer: RunWriter
    table_of: Callable[[str], TableName]
    offsets: StoredOffsets | None
    hides_values: bool
    tolerates_rejected: bool

    def write(self, records: Sequence[Record]) -> list[RejectedRecord]:
        """Write all but the bad records, which are returned. Retry or ConnectError: nothing was written."""
        try:
            return self._write(records)
        except (DataError, Retry):
            raise
        except ConnectError:
            if not self.transactions.is_connected:
                raise
            # Somebody may have changed the tables.
            self.layouts.forget()
            return self._write(records)

    def _write(self, records: Sequence[Record]) -> list[RejectedRecord]:
        rejected: list[RejectedRecord] = []
        with self.transactions.looking() as connection:
            pieces = self._pieces_now(connection, records, rejected)
        if not rejected or self.tolerates_rejected:
            try:
                with self._explained(), self.transactions.transaction() as connection:
                    for piece in pieces:
                        self._put(connection, piece)
            except DataError as error:
                # Bad data are rare: only now is each step one that can be undone.
                self._put_apart(pieces, rejected, error)
        return sorted(rejected, key=lambda each: each.place)

    def _put_apart(self, pieces: Sequence[_Piece], rejected: list[RejectedRecord], error: DataError) -> None:
        """Find the bad records of a batch that the database has rejected, and write the others if they are tolerated."""
        if not (self.tolerates_rejected or self.transactions.has_savepoints):
            raise error
        with suppress(_Undo), self._explained(), self.transactions.of_attempts():
            for piece in pieces:
                self._put_carefully(piece, rejected)
            if not self.tolerates_rejected:
                raise _Undo
        if not (self.tolerates_rejected or rejected):
            raise error

    def _pieces_now(
        self, connection: Connection, records: Sequence[Record], rejected: list[RejectedRecord]
    ) -> list[_Piece]:
        try:
            return [self._piece(connection, 0, records)]
        except DataError:
            # Somebody may have added a column meanwhile.
            self.layouts.forget()
            return list(self._pieces(connection, 0, records, rejected))

    def _pieces(
        self, connection: Connection, start: int, records: Sequence[Record], rejected: list[RejectedRecord]
    ) -> Iterator[_Piece]:
        """Usually one; several if some records can be no rows."""
        try:
            yield self._piece(connection, start, records)
        except DataError as error:
            if len(records) == 1:
                rejected.append(RejectedRecord(start, error))
                return
            for first, half in _halves(start, records):
                yield from self._pieces(connection, first, half, rejected)

    def _piece(self, connection: Connection, start: int, records: Sequence[Record]) -> _Piece:
        runs = []
        with self._explained():
            for topic, of_topic in by_topic(records).items():
                table = self.table_of(topic)
                for run in self.run_rules.runs_of(of_topic):
                    layout = self.layouts.of(connection, table, run)
                    if layout is not None:
                        runs.append((run, layout))
        return _Piece(start, records, runs)

    def _put(self, connection: Connection, piece: _Piece) -> None:
        records, runs = piece.records, piece.runs
        if self.offsets is not None:
            records = self.offsets.fresh(connection, records)
            if len(records) < len(piece.records):
                runs = self._piece(connection, 0, records).runs
        for run, layout in runs:
            with self._explained(f"cannot write to table {layout.target.table}"):
                self.run_writer.write(connection, layout, run)
        if self.offsets is not None:
            self.offsets.store(connection, records)

    def _put_carefully(self, piece: _Piece, rejected: list[RejectedRecord]) -> None:
        """Find the bad records by halves, so that a few statements do instead of one for each record."""
        try:
            with self._explained(), self.transactions.attempt() as connection:
                self._put(connection, piece)
        except DataError as error:
            if len(piece.records) > 1:
                for start, half in _halves(piece.start, piece.records):
                    self._put_carefully(self._piece(self.transactions.connection, start, half), rejected)
                return
            rejected.append(RejectedRecord(piece.start, error))
            if self.offsets is not None:
                with self._explained(), self.transactions.attempt() as connection:
                    self.offsets.store(connection, self.offsets.fresh(connection, piece.records))

    @contextmanager
    def _explained(self, doing: str = "cannot write") -> Iterator[None]:
        """Errors of the driver, and of values that nothing can be made of, as failures with the cause first."""
        try:
            yield
        except self.database.errors as error:
            failure = self.database.failure(error, doing)
            raise self._data_error(error, doing) if isinstance(failure, DataError) else failure from None
        except (*UNCONVERTIBLE, Mismatch) as error:
            raise self._data_error(error, doing) from None

    def _data_error(self, error: BaseException, doing: str) -> DataError:
        if self.hides_values:
            return DataError(f"{type(error).__name__} (trim.sensitive.log hides the rest): {doing}")
        return DataError(f"{self.database.without_password(text_of(error))}: {doing}")


def _halves(start: int, records: Sequence[Record]) -> Iterator[tuple[int, Sequence[Record]]]:
    middle = len(records) // 2
    yield start, records[:middle]
    yield start + middle, records[middle:]
