"""A run of records written to its table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from connect.api.record import Record
from connect.connectors.jdbc.writing.layouts import Layout
from connect.connectors.jdbc.writing.modes import InsertMode
from connect.connectors.jdbc.writing.row_writer import RowWriter, row_writer
from connect.connectors.jdbc.writing.rows import Rows
from connect.connectors.jdbc.writing.runs import Run
from connect.connectors.jdbc.writing.statements import Statements


@dataclass(frozen=True, slots=True)
class RunWriter:
    statements: Statements
    mode: InsertMode
    batch_rows: int

    def write(self, connection: Connection, layout: Layout, run: Run) -> None:
        writer = row_writer(connection, self.statements)
        if not run.has_deletions:
            self._put(writer, layout, layout.rows(run.records))
        elif self.mode is InsertMode.UPSERT:
            self._upsert_and_delete(writer, layout, run.records)
        else:
            self._put(writer, layout, layout.rows([record for record in run.records if record.value is not None]))
            self._delete(writer, layout, layout.keys([record for record in run.records if record.value is None]))

    def _upsert_and_delete(self, writer: RowWriter, layout: Layout, records: Sequence[Record]) -> None:
        """First everything is deleted that is to be at some time; of the rest, what came after that of its key is written."""
        keys = layout.keys(records)
        deleted: dict[object, int] = {}
        written: dict[object, list[int]] = {}
        for place, (key, record) in enumerate(zip(keys.keys(layout.target.key_count), records, strict=True)):
            if record.value is None:
                deleted[key] = place
                written.pop(key, None)
            else:
                written.setdefault(key, []).append(place)
        self._delete(writer, layout, keys.taken(list(deleted.values())))
        left = sorted(place for places in written.values() for place in places)
        self._put(writer, layout, layout.rows([records[place] for place in left]))

    def _put(self, writer: RowWriter, layout: Layout, rows: Rows) -> None:
        for part in self._parts(writer, rows):
            match self.mode:
                case InsertMode.INSERT | InsertMode.MULTI:
                    writer.insert(layout.target, part)
                case InsertMode.UPSERT:
                    writer.upsert(layout.target, part)
                case InsertMode.UPDATE:
                    if layout.target.others:
                        writer.update(layout.target, part)

    def _delete(self, writer: RowWriter, layout: Layout, keys: Rows) -> None:
        for part in self._parts(writer, keys):
            writer.delete(layout.target.key_alone, part)

    def _parts(self, writer: RowWriter, rows: Rows) -> Iterable[Rows]:
        return rows.slices(max(len(rows), self.batch_rows) if writer.streams else self.batch_rows)
