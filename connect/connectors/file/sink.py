"""The file sink: a line for each record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from connect.api.record import Record
from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.connectors.file.output_file import OutputFile
from connect.connectors.file.sink_settings import JSON, FileSinkSettings
from connect.data.json_text import json_line
from connect.data.text import text_of
from connect.errors import ConnectError, DataError

_TOPIC: Final = "${topic}"
_PARTITION: Final = "${partition}"
_ANYWHERE: Final = TopicPartition("", 0)


class FileSink(Sink[FileSinkSettings]):
    """Appends to one file, or to one for each topic or partition."""

    settings_type = FileSinkSettings

    def __init__(self, settings: FileSinkSettings) -> None:
        super().__init__(settings)
        self._files: dict[str, OutputFile] = {}
        self._lines: Callable[[Sequence[Record]], bytes] = _json_lines if settings.format == JSON else _text_lines

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord] | None:
        if self.settings.file is None:
            sys.stdout.buffer.write(self._lines(records))
            return None
        if self._is_one_file and not self.settings.exactly_once:
            lines, rejected = self._fitting_lines(records, 0)
            self._file(_ANYWHERE).write(lines)
            return rejected
        rejected = []
        start = 0
        for (topic, partition), run in groupby(records, key=lambda record: (record.topic, record.partition or 0)):
            same = list(run)
            rejected += self._append(TopicPartition(topic, partition), same, start)
            start += len(same)
        return rejected

    def start(self) -> None:
        """A file that cannot be written shows at once, where there is just one, and a folder that is not there always."""
        if self.settings.file is not None:
            self._check_folder()
            if self._is_one_file:
                self._file(_ANYWHERE)

    def flush(self) -> None:
        if self.settings.file is None:
            sys.stdout.buffer.flush()
        for file in self._files.values():
            file.flush()

    def stop(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        if not self.settings.exactly_once:
            return {}
        found = {each: self._file(each).offsets.get(each) for each in partitions}
        return {each: offset for each, offset in found.items() if offset is not None}

    @classmethod
    def keeps_positions(cls, settings: FileSinkSettings) -> bool:
        return settings.exactly_once

    def close_partitions(self, partitions: Sequence[TopicPartition]) -> None:
        """Let another task have the files that belong to these partitions alone."""
        for name in {self._name(each) for each in partitions} if _PARTITION in (self.settings.file or "") else ():
            file = self._files.pop(name, None)
            if file is not None:
                file.close()

    def _append(self, place: TopicPartition, records: Sequence[Record], start: int) -> list[RejectedRecord]:
        """Write the records of one partition, the first of which is at `start` in its batch."""
        file = self._file(place)
        if self.settings.exactly_once:
            kept = _from(records, file.offsets.get(place, 0))
            start += len(records) - len(kept)
            records = kept
            if not records:
                return []
        lines, rejected = self._fitting_lines(records, start)
        file.write(lines)
        last = records[-1].offset
        if last is not None:
            file.offsets[place] = last + 1
        return rejected

    def _fitting_lines(self, records: Sequence[Record], start: int) -> tuple[bytes, list[RejectedRecord]]:
        """The lines, and the records that have none: a number too large for JSON, half of a character."""
        try:
            return self._lines(records), []
        except (TypeError, ValueError):
            lines: list[bytes] = []
            rejected: list[RejectedRecord] = []
        for place, record in enumerate(records, start):
            try:
                lines.append(self._lines([record]))
            except (TypeError, ValueError) as error:
                rejected.append(RejectedRecord(place, DataError(f"the value cannot be written as a line: {error}")))
        return b"".join(lines), rejected

    def _file(self, place: TopicPartition) -> OutputFile:
        name = self._name(place)
        file = self._files.get(name)
        if file is None:
            self._check_folder()
            try:
                file = self._files[name] = OutputFile(Path(name), self.settings)
            except OSError as error:
                raise ConnectError(f"{name} cannot be written: {error.strerror}: {error.filename}") from error
        return file

    def _check_folder(self) -> None:
        """A folder that is not there is a mistake in the setting, or a disk that is away. Those that are named after topics and partitions are made."""
        fixed = (self.settings.file or "").partition(_TOPIC)[0].partition(_PARTITION)[0]
        folder = Path(fixed) if fixed.endswith("/") else Path(fixed).parent
        if not folder.is_dir():
            raise ConnectError(
                f"{self.settings.file} cannot be written: the folder {folder} is not there; make it, or name another in file"
            )

    @property
    def _is_one_file(self) -> bool:
        """Whether its name is the same for all topics and partitions."""
        name = self.settings.file or ""
        return _TOPIC not in name and _PARTITION not in name

    def _name(self, place: TopicPartition) -> str:
        # A topic may be called "..", which as a part of a path would lead elsewhere.
        topic = place.topic if place.topic.strip(".") else place.topic.replace(".", "_")
        return (self.settings.file or "").replace(_TOPIC, topic).replace(_PARTITION, str(place.partition))


def _from(records: Sequence[Record], offset: int) -> Sequence[Record]:
    """Those from the offset on: the file has the others already."""
    first = records[0].offset
    if first is None or first >= offset:
        return records
    return [record for record in records if record.offset is None or record.offset >= offset]


def _text_lines(records: Sequence[Record]) -> bytes:
    values = [record.value for record in records]
    try:
        text = "\n".join(values)
    except TypeError:
        text = "\n".join(text_of(record.value, record.value_schema) for record in records)
    return f"{text}\n".encode()


def _json_lines(records: Sequence[Record]) -> bytes:
    return b"".join([json_line(record.value) for record in records])
