"""The rows of a query, as they come."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, TextIO

from barnabas.cli.output import CSV, JSON, TABLE
from barnabas.cli.sql.table import RowColumn, RowTable
from barnabas.cli.sql.values import json_text, plain_text
from core_broker.disk_space import size_text
from streams_sql.clients.blocking import Rows

SAMPLE_ROWS: Final = 200
"""The rows that decide how wide the columns of a table are; the following ones are written as they come."""


class RowWriter:
    """Writes the rows of one query. `count` is the number of rows written, also after Ctrl-C."""

    def __init__(self, out: TextIO, form: str, *, is_live: bool) -> None:
        self._out = out
        self._form = form
        self._is_live = is_live
        self.count = 0

    def write(self, rows: Rows) -> None:
        """A live query may never end: nothing of it is kept back, and its notes come first."""
        found = rows.raw()
        if self._form != TABLE and self._is_live:
            self._warn(rows)
        if self._form == TABLE:
            self._write_table(rows, found)
        elif self._form == CSV:
            writer = csv.writer(self._out, lineterminator="\n")
            writer.writerow(rows.columns)
            for row in found:
                writer.writerow([plain_text(value) for value in row])
                self._written()
        elif self._form == JSON and not self._is_live:
            self._write_array(rows.columns, found)
        else:
            for row in found:
                self._out.write(_object(rows.columns, row) + "\n")
                self._written()
        if self._form != TABLE and not self._is_live:
            self._warn(rows)

    def _warn(self, rows: Rows) -> None:
        """Why rows may be missing matters with and without rows, and programs do not read it there."""
        sys.stderr.writelines(f"{note}\n" for note in rows.notes)

    def _write_table(self, rows: Rows, found: Iterator[list[Any]]) -> None:
        sample = None if self._is_live else list(islice(found, SAMPLE_ROWS))
        columns = [RowColumn(name, type_) for name, type_ in zip(rows.columns, rows.types, strict=True)]
        table = RowTable(self._out, columns, sample)
        table.head()
        if self._is_live:
            self._write_notes(rows)
        self._show()
        for row in chain(sample or (), found):
            table.row(row)
            self._written()
        if not self._is_live:
            self._write_notes(rows)
        if rows.figures is not None:
            self._out.write(f"{_figures_text(rows.figures)}\n")

    def _write_notes(self, rows: Rows) -> None:
        self._out.writelines(f"{note}\n" for note in rows.notes)

    def _write_array(self, columns: Sequence[str], rows: Iterator[list[Any]]) -> None:
        for row in rows:
            self._out.write(f"{',' if self.count else '['}\n  {_object(columns, row)}")
            self._written()
        self._out.write("\n]\n" if self.count else "[]\n")

    def _written(self) -> None:
        self.count += 1
        self._show()

    def _show(self) -> None:
        if self._is_live:
            self._out.flush()


def _figures_text(figures: Mapping[str, int]) -> str:
    """What was read for the rows, in a line."""
    text = f"{_counted(figures['rows'], 'row')} of {_counted(figures['records'], 'record')} ({size_text(figures['bytes'])})"
    if figures["problems"]:
        text += f", {figures['problems']} of which could not be decoded (WHERE ROWERROR IS NOT NULL shows them)"
    return f"{text}, {figures['elapsed_ms']} ms"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _object(columns: Sequence[str], row: Sequence[Any]) -> str:
    return json_text(dict(zip(columns, row, strict=True)))
