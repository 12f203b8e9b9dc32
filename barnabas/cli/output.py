"""Rows as a table for people, or as JSON, JSON lines or CSV for programs. On a terminal, rich draws the table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TextIO

TABLE: Final = "table"
JSON: Final = "json"
JSON_LINES: Final = "jsonl"
CSV: Final = "csv"
FORMS: Final = (TABLE, JSON, JSON_LINES, CSV)
ARROW: Final = "arrow"
"""A stream of Arrow, for programs that read rows of SQL."""
TEXT: Final = "text"
REPORT_FORMS: Final = (TEXT, JSON)
"""Of commands that report what they have done."""

GAP: Final = "  "
NOTHING: Final = "-"
# A value: the style in which a table paints it, or nothing.
Style = Callable[[Any], str | None]


class Column(NamedTuple):
    """`name` is the key in JSON and the head in CSV; a table shows it with blanks and in capitals. What `is_whole` is not cut, since
    people copy it."""

    name: str
    style: Style | None = None
    is_whole: bool = False

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").upper()


def write(out: TextIO, form: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows in a form. All but a table are written as they come."""
    if form == TABLE:
        _write_table(out, columns, list(rows))
    elif form == JSON:
        write_json(out, [_object(columns, row) for row in rows])
    elif form == JSON_LINES:
        for row in rows:
            out.write(json.dumps(_object(columns, row), ensure_ascii=False) + "\n")
    else:
        import csv

        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.name for column in columns])
        writer.writerows([[_flat(value) for value in row] for row in rows])


def write_json(out: TextIO, content: object) -> None:
    json.dump(content, out, ensure_ascii=False, indent=2)
    out.write("\n")


def report(form: str, content: object, *lines: str) -> None:
    """Print what a command has done: lines for people, or a JSON document for programs."""
    if form == JSON:
        write_json(sys.stdout, content)
        return
    for line in lines:
        say(line, sys.stdout)


def say(text: str, out: TextIO) -> None:
    """Write lines that may quote others: a terminal gets no control characters of theirs."""
    for line in text.split("\n"):
        print(printable(line.expandtabs()) if out.isatty() else line, file=out)


def _object(columns: Sequence[Column], row: Sequence[Any]) -> dict[str, Any]:
    return {column.name: value for column, value in zip(columns, row, strict=True)}


def _flat(value: Any) -> str:
    """A value in one cell: lists by blanks, truth as JSON has it, nothing as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return " ".join([_flat(item) for item in value])
    if isinstance(value, dict):
        return " ".join([f"{name}={_flat(item)}" for name, item in value.items()])
    return str(value)


def _write_table(out: TextIO, columns: Sequence[Column], rows: list[Sequence[Any]]) -> None:
    texts = [[printable(_flat(value)) or NOTHING for value in row] for row in rows]
    if out.isatty():
        from barnabas.cli.terminal.table import write_table

        write_table(out, columns, rows, texts)
        return
    widths = [max([len(column.title), *[len(row[place]) for row in texts]]) for place, column in enumerate(columns)]
    are_numbers = [bool(rows) and all(type(row[place]) is int for row in rows) for place in range(len(columns))]
    for line in ([column.title for column in columns], *texts):
        cells = zip(line, widths, are_numbers, strict=True)
        padded = [f"{text:>{width}}" if is_number else f"{text:<{width}}" for text, width, is_number in cells]
        out.write(GAP.join(padded).rstrip() + "\n")


def printable(text: str) -> str:
    """Control characters could move the cursor or change the terminal: they show as their numbers."""
    return text if text.isprintable() else "".join([c if c.isprintable() else f"\\x{ord(c):02x}" for c in text])
