"""The settings of the file sink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from connect.api.settings import Importance, setting
from connect.errors import Problem

TEXT: Final = "text"
JSON: Final = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSinkSettings:
    file: str | None = setting(
        "file",
        "Destination filename, in a folder that is there; ${topic} and ${partition} in it make a file for each. If not specified, the standard output is used.",
        None,
        importance=Importance.HIGH,
    )
    format: str = setting(
        "format", "What a line is: the value's text, or the value as JSON.", TEXT, choices=(TEXT, JSON)
    )
    fsync: bool = setting(
        "fsync", "Whether the file is on the disk, safe from power cuts, before offsets are committed.", False
    )
    exactly_once: bool = setting(
        "exactly.once",
        "Keep offsets beside the file and cut off what was written after them, so that each record is there once, whatever crashes. "
        "The file then belongs to one task.",
        False,
    )
    roll_bytes: int = setting(
        "roll.bytes", "When a file is closed and another begun, by its size; 0: never.", 0, unit="bytes", minimum=0
    )
    roll_interval_ms: int = setting(
        "roll.interval.ms", "When a file is closed and another begun, by its age; 0: never.", 0, unit="ms", minimum=0
    )

    def problems(self) -> Iterator[Problem]:
        if self.file is None and (self.exactly_once or self.roll_bytes or self.roll_interval_ms or self.fsync):
            yield Problem("file", "the standard output can neither be rolled nor synced: name a file")
