"""Rows of a query as a table that fits its terminal, or, where it has too many columns for that, one below the other. Rows are written as
they come, and a query may never end: rich would need them all before it draws."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

from barnabas.cli.sql.values import cell_text
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import has_colours, styled

GAP: Final = "  "
RULE: Final = "─"
FLEXIBLE_MIN_CHARACTERS: Final = 12
"""Columns of texts may be cut down to this; those of numbers and times are not cut."""

_NUMBERS: Final = ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL")
# How wide values of a type are, mostly; what is not named here may have any width.
_USUAL_WIDTHS: Final = {"BOOLEAN": 5, "INTEGER": 8, "BIGINT": 13, "DOUBLE": 12, "DATE": 10, "TIME": 8, "TIMESTAMP": 23}


@dataclass(frozen=True, slots=True)
class RowColumn:
    name: str
    type: str

    @property
    def is_number(self) -> bool:
        return self.type.partition("(")[0] in _NUMBERS

    @property
    def usual_width(self) -> int | None:
        return 12 if self.type.startswith("DECIMAL") else _USUAL_WIDTHS.get(self.type)


class RowTable:
    """`sample` are some first rows, which decide how wide the columns are. Without a sample, None, the types decide."""

    def __init__(self, out: TextIO, columns: Sequence[RowColumn], sample: Sequence[Sequence[Any]] | None) -> None:
        self._out = out
        self._columns = columns
        self._has_colours = has_colours(out)
        self._is_cut = out.isatty()
        self._rows = 0
        self._widths = _widths(columns, sample)
        available = styles.width()
        self.is_vertical = False
        if self._is_cut:
            self.is_vertical = not _fitted(self._widths, columns, available, is_sample=sample is not None)
        self._cell_max = available - max(map(shown_width, [column.name for column in columns])) - len(GAP)

    def head(self) -> None:
        if not self.is_vertical:
            self._write_line([column.name for column in self._columns], style=styles.BOLD)
            if self._is_cut:
                self._out.write(RULE * (sum(self._widths) + len(GAP) * (len(self._widths) - 1)) + "\n")

    def row(self, row: Sequence[Any]) -> None:
        self._rows += 1
        texts = list(map(cell_text, row))
        if self.is_vertical:
            self._write_block(texts)
        else:
            self._write_line(texts, nulls=[value is None for value in row])

    def _write_line(self, texts: Sequence[str], nulls: Sequence[bool] = (), style: str | None = None) -> None:
        cells = []
        for place, (text, column, width) in enumerate(zip(texts, self._columns, self._widths, strict=True)):
            # A number that is cut is another number: rather is its line out of step.
            is_cut = self._is_cut and column.usual_width is None
            cell = _padded(_cut(text, width) if is_cut else text, width, is_right=column.is_number)
            cells.append(self._styled(cell, styles.DIM) if nulls and nulls[place] else cell)
        line = GAP.join(cells).rstrip()
        self._out.write((line if style is None else self._styled(line, style)) + "\n")

    def _write_block(self, texts: Sequence[str]) -> None:
        name_width = max(shown_width(column.name) for column in self._columns)
        self._out.write(self._styled(f"row {self._rows}", styles.DIM) + "\n")
        for column, text in zip(self._columns, texts, strict=True):
            name = self._styled(_padded(column.name, name_width, is_right=False), styles.BOLD)
            self._out.write(f"{name}{GAP}{_cut(text, max(self._cell_max, FLEXIBLE_MIN_CHARACTERS))}\n")

    def _styled(self, text: str, style: str) -> str:
        return styled(text, style, self._out) if self._has_colours else text


def shown_width(text: str) -> int:
    """Characters of some scripts take two places on a terminal, and accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _widths(columns: Sequence[RowColumn], sample: Sequence[Sequence[Any]] | None) -> list[int]:
    names = [shown_width(column.name) for column in columns]
    if sample is None:
        usual = [column.usual_width or FLEXIBLE_MIN_CHARACTERS for column in columns]
        return list(map(max, names, usual))
    return [max([name, *[shown_width(cell_text(row[place])) for row in sample]]) for place, name in enumerate(names)]


def _fitted(widths: list[int], columns: Sequence[RowColumn], available: int, *, is_sample: bool) -> bool:
    """Make the columns as wide as the terminal allows, in place. False when they do not fit even so."""
    available -= len(GAP) * (len(columns) - 1)
    flexible = [place for place, column in enumerate(columns) if column.usual_width is None]
    while sum(widths) > available:
        widest = max(flexible, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= FLEXIBLE_MIN_CHARACTERS:
            return False
        widths[widest] -= 1
    if not is_sample and flexible:
        # Rows that are still to come may have any width: their columns share what is left.
        share, rest = divmod(available - sum(widths), len(flexible))
        for number, place in enumerate(flexible):
            widths[place] += share + (number < rest)
    return True


def _padded(text: str, width: int, *, is_right: bool) -> str:
    blanks = " " * (width - shown_width(text))
    return blanks + text if is_right else text + blanks


def _cut(text: str, width: int) -> str:
    if shown_width(text) <= width:
        return text
    kept: Iterable[str] = text[: width - 1]
    while shown_width("".join(kept)) > width - 1:
        kept = list(kept)[:-1]
    return "".join(kept) + "…"
