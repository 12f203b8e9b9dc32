"""Reading one file to its end, again and again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from connect.api.source import Batch, JsonObject, RejectedInput, SourceOffset
from connect.connectors.file.followed_file import FollowedFile, find_renamed
from connect.connectors.file.line_formats import REJECTED_SHOWN_BYTES, CsvFormat, LineFormat, line_format
from connect.connectors.file.lines import LineCutter, Lines
from connect.connectors.file.source_settings import FileSourceSettings

FILENAME: Final = "filename"
POSITION: Final = "position"
IDENTITY: Final = "file"
"""Beside Kafka's position, which file it was: the name may stand for another one when the task starts again."""

_logger = logging.getLogger(__name__)


class FileReader:
    """Follows the file of one name. When another file takes the name, the former is read to its end first."""

    def __init__(
        self,
        path: Path,
        settings: FileSourceSettings,
        offset: JsonObject | None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._settings = settings
        self._offset = offset
        self._clock_s = clock_s
        self._file: FollowedFile | None = None
        self._cutter = LineCutter(0, settings.line_max_bytes)
        self._format: LineFormat = line_format(settings, at_start=True)
        self._grown_s = clock_s()
        self._skipping = False
        self.missing = ""
        """Why the file cannot be read; empty while it can."""

    def read(self) -> Iterator[Batch]:
        """Everything up to the end that the file has now."""
        if self._file is None and not self._open():
            return
        while True:
            yield from self._read_to_end()
            if not self._reopen_if_changed():
                return

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read_to_end(self) -> Iterator[Batch]:
        assert self._file is not None
        while data := self._file.read():
            self._grown_s = self._clock_s()
            lines = self._cutter.cut(data)
            if lines.texts:
                yield from self._batches(lines)
            if self._cutter.is_too_long:
                yield from self._drop_long_line()
        yield from self._last_line()

    def _batches(self, lines: Lines) -> Iterator[Batch]:
        if self._skipping:
            # The first of these is the end of a line that was rejected already.
            self._skipping = False
            lines = Lines(lines.texts[1:], lines.ends[1:])
        size = self._settings.batch_size
        for start in range(0, len(lines.texts), size):
            yield self._batch(Lines(lines.texts[start : start + size], lines.ends[start : start + size]))

    def _batch(self, lines: Lines) -> Batch:
        limit = self._settings.line_max_bytes
        rejected = [self._too_long(text) for text in lines.texts if len(text) > limit]
        if rejected:
            kept = [place for place, text in enumerate(lines.texts) if len(text) <= limit]
            if not kept:
                return Batch([], [self._reached(lines.ends[-1])], rejected)
            lines = Lines([lines.texts[place] for place in kept], [lines.ends[place] for place in kept])
        rows = self._format.rows(lines)
        return Batch(rows.records, [self._reached(rows.end)], [*rejected, *rows.rejected])

    def _too_long(self, text: bytes) -> RejectedInput:
        reason = f"the line is longer than line.max.bytes={self._settings.line_max_bytes}"
        return RejectedInput(self._settings.topic, text[:REJECTED_SHOWN_BYTES], reason)

    def _reached(self, position: int) -> SourceOffset:
        assert self._file is not None
        return SourceOffset({FILENAME: str(self._path)}, {POSITION: position, IDENTITY: self._file.identity})

    def _last_line(self) -> Iterator[Batch]:
        after_ms = self._settings.last_line_after_ms
        waited_ms = (self._clock_s() - self._grown_s) * 1000
        if self._cutter.rest and 0 <= after_ms <= waited_ms:
            yield from self._batches(self._cutter.take_rest())

    def _drop_long_line(self) -> Iterator[Batch]:
        """Reject what there is of the line, and pass over the rest of it."""
        rest = self._cutter.take_rest()
        if not self._skipping:
            self._skipping = True
            yield Batch([], [], [self._too_long(rest.texts[0])])

    # --- which file ---

    def _open(self) -> bool:
        """Open the file, where it was left if it is the same; False while there is none."""
        offset, self._offset = self._offset, None
        path = self._path
        identity = None if offset is None else offset.get(IDENTITY)
        try:
            file = FollowedFile(path)
            if identity is not None and file.identity != identity:
                renamed = find_renamed(path, identity)
                if renamed is not None:
                    file.close()
                    file = FollowedFile(renamed)
                    file.path = path
                else:
                    _logger.warning(
                        "%s is another file than the one that was read before: it is read from its start", path
                    )
                    offset = None
        except (FileNotFoundError, PermissionError) as error:
            self._offset = offset
            self._tell_missing(error)
            return False
        self.missing = ""
        self._follow(file, 0 if offset is None else offset[POSITION])
        return True

    def _follow(self, file: FollowedFile, position: int) -> None:
        self._file = file
        self._format = line_format(self._settings, at_start=position == 0)
        if position and isinstance(self._format, CsvFormat):
            header = LineCutter(0, self._settings.line_max_bytes).cut(file.read())
            if header.texts:
                self._format.learn_header(header.texts[0])
        file.seek(position)
        self._cutter = LineCutter(position, self._settings.line_max_bytes)
        self._grown_s = self._clock_s()
        self._skipping = False

    def _reopen_if_changed(self) -> bool:
        """Go on with a new file of the name, or from the start of one that was cut; False when there is nothing new."""
        file = self._file
        assert file is not None
        if file.was_truncated:
            _logger.warning("%s was truncated below %d bytes: it is read from its start", self._path, file.position)
            self._follow(file, 0)
            return True
        if not file.was_replaced:
            return False
        if self._cutter.rest:
            _logger.warning(
                "%s was rotated behind a line without an end, which is left: %d bytes",
                self._path,
                len(self._cutter.rest),
            )
        self.close()
        return self._open()

    def _tell_missing(self, error: OSError) -> None:
        if not self.missing:
            _logger.warning("%s cannot be read (%s): waiting for it", self._path, error.strerror)
        self.missing = f"{self._path} cannot be read: {error.strerror}. The task waits for it."
