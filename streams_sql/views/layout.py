"""What the table of a view looks like in SQLite."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from streams_sql.analysis.relation import read
from streams_sql.analysis.scope import NamedSource
from streams_sql.language.statements import Window, WindowKind
from streams_sql.plan.nodes import Read
from streams_sql.problem import SqlProblem
from streams_sql.sources import ROWTIME, WINDOWEND, WINDOWSTART, Column, Source
from streams_sql.views.codecs import Codec, codec_of

VERSION: Final = 2
"""Of how rows are kept. Views of another one are built anew from their topics."""

MS_PER_DAY: Final = 86_400_000
RETENTION_MS_MIN: Final = MS_PER_DAY

TABLE: Final = "view_rows"

Places: TypeAlias = tuple[int, ...]
"""Columns of an index, by their places."""


@dataclass(frozen=True, slots=True)
class ViewLayout:
    """The table has the columns of the source in the order in which they are read, under names of our own: SQLite would take `a` and
    `A` for the same. The first `key_count` are its primary key."""

    read: Read
    key_count: int
    codecs: tuple[Codec, ...]
    places: Mapping[str, int]
    window_end: int | None
    rowtime: int
    retention_ms: int | None

    @classmethod
    def of(cls, source: Source) -> ViewLayout:
        if not source.schema.key:
            raise SqlProblem(f"{source.name} has no key: only tables with a primary key can be looked into.")
        reading = read(NamedSource(source.name, source), "")
        columns = reading.shape.columns
        places = {column.name: place for place, column in enumerate(columns)}
        return cls(
            reading,
            len(source.schema.key) + _window_columns(source),
            tuple(codec_of(column.type) for column in columns),
            places,
            None if source.key_window is None else places[WINDOWEND],
            places[ROWTIME],
            None if source.key_window is None or source.window is None else retention_ms(source.window),
        )

    @property
    def source(self) -> Source:
        return self.read.source

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.read.shape.columns

    @property
    def width(self) -> int:
        return len(self.columns)

    def fingerprint(self) -> str:
        """Changes whenever the rows would have to be other ones."""
        source = self.source
        of = (VERSION, source.topic, self.columns, source.key_format, source.value_format)
        text = repr((*of, source.key_window, source.timestamp, source.schema.headers))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    def table_statement(self, table: str) -> str:
        """What makes the table, under this name."""
        names = ", ".join(column_name(place) for place in range(self.width))
        return f"CREATE TABLE {table} ({names}, PRIMARY KEY ({', '.join(self.key_names)})) WITHOUT ROWID"

    @property
    def key_names(self) -> list[str]:
        return [column_name(place) for place in range(self.key_count)]

    @property
    def own_indexes(self) -> frozenset[Places]:
        """Those that the view needs itself: old windows are found by their ends."""
        if self.retention_ms is None or self.window_end is None:
            return frozenset()
        return frozenset({(self.window_end,)})


def column_name(place: int) -> str:
    return f"c{place}"


def retention_ms(window: Window) -> int:
    """How long after its end a window is kept."""
    if window.retention_ms is not None:
        return window.retention_ms
    # Without a grace period rows are late a day after the beginning of their window, or at its end if that comes later.
    return max(RETENTION_MS_MIN, window.size_ms + (window.grace_ms or 0))


def _window_columns(source: Source) -> int:
    """How many of the bounds of a window belong to the key: sessions of one start may have several ends."""
    if source.key_window is None:
        return 0
    return len((WINDOWSTART, WINDOWEND)) if source.key_window.kind is WindowKind.SESSION else len((WINDOWSTART,))
