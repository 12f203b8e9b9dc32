"""Rows as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TextIO

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.console import console_of

CELL_MIN_CHARACTERS: Final = 12
GAP_CHARACTERS: Final = 2


def write_table(
    out: TextIO, columns: Sequence[Column], rows: Sequence[Sequence[Any]], texts: Sequence[Sequence[str]]
) -> None:
    """Write `rows`, whose cells are shown as `texts`. Cells that do not fit are cut, but neither numbers nor columns that people copy
    from: where these alone are too wide, the lines are longer than the terminal."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style=styles.BOLD)
    needed = GAP_CHARACTERS * (len(columns) - 1)
    for place, column in enumerate(columns):
        is_number = bool(rows) and all(type(row[place]) is int for row in rows)
        is_whole = column.is_whole or is_number
        table.add_column(Text(column.title), justify="right" if is_number else "left", no_wrap=is_whole)
        widest = max([cell_len(column.title), *[cell_len(row[place]) for row in texts]])
        needed += widest if is_whole else min(widest, max(CELL_MIN_CHARACTERS, cell_len(column.title)))
    for row, shown in zip(rows, texts, strict=True):
        table.add_row(*[_cell(*each) for each in zip(columns, row, shown, strict=True)])
    console = console_of(out)
    console.width = max(console.width, needed)
    with console.capture() as capture:
        console.print(table)
    # Blanks up to the width of the last column would be copied from the terminal.
    out.writelines(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _cell(column: Column, value: Any, text: str) -> Text:
    style = column.style(value) if column.style is not None else None
    return Text(text, style or "", no_wrap=True, overflow="ellipsis")
