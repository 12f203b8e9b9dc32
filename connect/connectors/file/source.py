"""The file source: follows one file or many, in bytes, through rotation and truncation."""

from __future__ import annotations

import glob
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from connect.api.record import Record
from connect.api.source import (
    Batch,
    Idle,
    JsonObject,
    Offsets,
    RejectedInput,
    Shard,
    Source,
    SourceOffset,
    require_names,
)
from connect.connectors.file.file_reader import FILENAME, IDENTITY, POSITION, FileReader
from connect.connectors.file.source_settings import FileSourceSettings
from connect.data.schema import STRING
from connect.errors import InvalidOffsets

FILES_SHOWN_MAX: Final = 20
"""How many names a message tells."""
_PATTERN_CHARACTERS: Final = frozenset("*?[")

_logger = logging.getLogger(__name__)


class FileSource(Source[FileSourceSettings]):
    """Reads lines of text, CSV or JSON."""

    settings_type = FileSourceSettings

    def shards(self) -> Sequence[Shard]:
        file = self.settings.file
        if file is None:
            return ({},)
        if not self._is_pattern:
            return ({FILENAME: file},)
        return [{FILENAME: path} for path in sorted(glob.glob(file, recursive=True)) if Path(path).is_file()]

    @property
    def rescan_s(self) -> float | None:
        return self.settings.rescan_interval_ms / 1000 if self._is_pattern else None

    @property
    def is_exactly_once(self) -> bool:
        return self.settings.file is not None

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        if self.settings.file is None:
            return self._read_standard_input()
        return self._read_files([shard[FILENAME] for shard in shards], offsets)

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        if self.settings.file is None:
            raise InvalidOffsets("the standard input has no offsets")
        known = [shard[FILENAME] for shard in self.shards()]
        for partition, offset in offsets:
            if set(partition) != {FILENAME}:
                raise InvalidOffsets(f"the partition {dict(partition)} must name a file under {FILENAME!r}")
            if offset is None:
                # What is forgotten may be of a file that is not there any more.
                continue
            _check_offset(offset)
            if partition[FILENAME] not in known:
                shown = ", ".join(known[:FILES_SHOWN_MAX]) or "one that matches file, and none does yet"
                raise InvalidOffsets(f"{partition[FILENAME]!r} is no file that this connector reads: expected {shown}")

    @property
    def _is_pattern(self) -> bool:
        return self.settings.file is not None and not _PATTERN_CHARACTERS.isdisjoint(self.settings.file)

    def _read_files(self, names: Sequence[str], offsets: Offsets) -> Iterator[Batch | Idle]:
        readers = [FileReader(Path(name), self.settings, offsets.get({FILENAME: name})) for name in names]
        try:
            while True:
                found = False
                for reader in readers:
                    for batch in reader.read():
                        found = True
                        yield batch
                if not found:
                    missing = next((reader.missing for reader in readers if reader.missing), "")
                    yield Idle(self.settings.poll_interval_ms / 1000, missing)
        finally:
            for reader in readers:
                reader.close()

    def _read_standard_input(self) -> Iterator[Batch | Idle]:
        """It has no positions to go on from: what was read when a task ends is gone."""
        topic, encoding = self.settings.topic, self.settings.encoding
        for line in sys.stdin.buffer:
            text = line.rstrip(b"\r\n")
            try:
                yield Batch([Record(topic, text.decode(encoding), STRING)])
            except UnicodeDecodeError as error:
                yield Batch([], rejected=[RejectedInput(topic, text, f"the line is no {encoding}: {error}")])
        while True:
            yield Idle(self.settings.poll_interval_ms / 1000)


def _check_offset(offset: JsonObject) -> None:
    require_names(offset, (POSITION, IDENTITY))
    position, identity = offset.get(POSITION), offset.get(IDENTITY)
    if not isinstance(position, int) or isinstance(position, bool) or position < 0:
        raise InvalidOffsets(f"{POSITION} must be a whole number of bytes, 0 or more, not {position!r}")
    if identity is not None and not isinstance(identity, str):
        raise InvalidOffsets(f"{IDENTITY} must be a text such as 2049:131, or be left out, not {identity!r}")
