"""The settings of the file source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from connect.api.settings import Importance, setting
from connect.connectors.file.columns import ColumnError, parse_columns
from connect.errors import Problem

LINES: Final = "lines"
CSV: Final = "csv"
JSON: Final = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSourceSettings:
    file: str | None = setting(
        "file",
        "Source filename, or a pattern with * and ** that finds many. If not specified, the standard input is used.",
        None,
        importance=Importance.HIGH,
    )
    topic: str = setting("topic", "The topic to publish data to.", importance=Importance.HIGH)
    batch_size: int = setting(
        "batch.size",
        "The maximum number of records the source task can read from the file each time it is polled.",
        2_000,
        minimum=1,
        importance=Importance.LOW,
    )
    format: str = setting(
        "format",
        "What a line is: text (lines), fields with separators (csv), or a JSON value (json).",
        LINES,
        choices=(LINES, CSV, JSON),
    )
    columns: str | None = setting(
        "columns",
        "Names and types of fields, such as `id:int64, name:string?, price:decimal(2), at:timestamp`; a ? makes a field optional. "
        "Without it, CSV has a field of text for each name of its first line, and JSON has no schema.",
        None,
    )
    key_columns: tuple[str, ...] = setting("key.columns", "Fields of CSV or JSON that make the key of the record.", ())
    csv_delimiter: str = setting("csv.delimiter", r"The character between the fields of a CSV line; \t is a tab.", ",")
    csv_quote: str = setting("csv.quote", "The character around fields of a CSV line that contain others.", '"')
    csv_header: bool = setting("csv.header", "Whether the first line of a CSV file names its fields.", True)
    encoding: str = setting("encoding", "How the file's text is encoded.", "utf-8", importance=Importance.LOW)
    line_max_bytes: int = setting(
        "line.max.bytes", "The longest line; a longer one is rejected.", 10 * 1024 * 1024, unit="bytes", minimum=1
    )
    last_line_after_ms: int = setting(
        "last.line.after.ms",
        "When a last line without an end is read as it is, after the file has not grown for so long; -1: never.",
        -1,
        unit="ms",
        minimum=-1,
    )
    poll_interval_ms: int = setting(
        "poll.interval.ms", "How often a file that was read to its end is looked at.", 1_000, unit="ms", minimum=1
    )
    rescan_interval_ms: int = setting(
        "rescan.interval.ms", "How often a pattern is asked for new files.", 30_000, unit="ms", minimum=1
    )

    @property
    def delimiter(self) -> str:
        """Blanks around a value are not part of it, so that a tab itself cannot be written."""
        return "\t" if self.csv_delimiter == r"\t" else self.csv_delimiter

    def problems(self) -> Iterator[Problem]:
        if not self.topic:
            yield Problem("topic", "Invalid value for configuration topic: String must be non-empty")
        try:
            "".encode(self.encoding)
        except LookupError:
            yield Problem("encoding", f"{self.encoding} is no encoding that is known here; utf-8 and latin-1 are")
        for name, character in (("csv.delimiter", self.delimiter), ("csv.quote", self.csv_quote)):
            if len(character) != 1:
                yield Problem(name, f"{character!r} must be a single character")
        yield from self._column_problems()

    def _column_problems(self) -> Iterator[Problem]:
        if self.format == LINES and (self.columns or self.key_columns):
            yield Problem("format", "lines of text have no fields: set format to csv or json, or leave out columns")
        if self.columns is None:
            return
        try:
            names = [column.name for column in parse_columns(self.columns)]
        except ColumnError as error:
            yield Problem("columns", str(error))
            return
        for key in self.key_columns:
            if key not in names:
                yield Problem("key.columns", f"{key} is none of the columns {', '.join(names)}")
