"""The tests that every source should pass.

In the tests of a connector:

    class TestLines(SourceCompliance):
        plugin = lines
        config = {"topic": "t", "batch.size": "7"}

        def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
            (folder / "in.txt").write_text("".join(f"line {number}\\n" for number in range(count)))
            return {"file": str(folder / "in.txt")}
"""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from connect.api.record import Record
from connect.api.source import Batch, Idle, Source, SourceOffset
from connect.compliance.settings import SettingsCompliance
from connect.compliance.source_session import SourceSession, reached_after, records_of
from connect.errors import InvalidOffsets

IDLE_MAX_S: Final = 3_600.0
_OPEN_FILES: Final = Path("/dev/fd")


class SourceCompliance(SettingsCompliance):
    """Inherit, name `plugin` and `config`, and say how a source is arranged. Settings that make batches small show the most."""

    count: ClassVar[int] = 40
    """How many records the sources of the tests have."""

    @abstractmethod
    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        """Make a source that has so many records, with what lies in the folder, and return the settings that lead to it.

        Called again for the same folder with a higher count, the source has more records behind those that it had.
        """

    def identity(self, record: Record) -> Any:
        """What makes two records the same one; for records with the time of the reading, all but that."""
        return (record.topic, repr(record.key), repr(record.value))

    def nonsense(self, reached: SourceOffset) -> SourceOffset:
        """An offset that the source could never go on from, made of one that it told."""
        return SourceOffset(reached.partition, {name: ["nonsense"] for name in reached.offset or {}})

    def complete(self, folder: Path) -> dict[str, str]:
        return self._config(folder, self.count)

    def test_everything_is_read(self, tmp_path: Path) -> None:
        found = records_of(self._read(self._source(tmp_path)))
        assert len(found) == self.count, f"the source has {self.count} records, and {len(found)} were read"

    def test_reading_goes_on_after_each_batch(self, tmp_path: Path) -> None:
        """A task that dies after any batch is followed by one that reads the rest: nothing is lost, and nothing read twice."""
        config = self.complete(tmp_path)
        source: Source[Any] = self.make(config)
        batches = self._read(source)
        for place in range(len(batches) + 1):
            rest = self._counted(batches[place:])
            again = self._counted(self._read(self.make(config), batches[:place]))
            where = f"after batch {place} of {len(batches)}"
            assert not rest - again, f"{where}, records are lost: {list(rest - again)[:3]}"
            if source.is_exactly_once:
                assert not again - rest, f"{where}, records are read twice: {list(again - rest)[:3]}"

    def test_offsets_are_json(self, tmp_path: Path) -> None:
        batches = self._read(self._source(tmp_path))
        for each in (offset for batch in batches for offset in batch.offsets):
            assert json.loads(json.dumps(each)) == [each.partition, each.offset], f"{each} is another one in JSON"

    def test_a_source_that_is_read_to_its_end_waits_for_more(self, tmp_path: Path) -> None:
        source = self._source(tmp_path)
        reading = SourceSession(source)
        try:
            assert len(records_of(reading.batches())) == self.count
            self.arrange(tmp_path, self.count + 1)
            found = len(records_of(reading.batches()))
            assert found == 1, f"one record came after the end, and {found} were read"
        finally:
            reading.close()

    def test_nothing_to_read_is_idle(self, tmp_path: Path) -> None:
        reading = SourceSession(self.make(self._config(tmp_path, 0)))
        try:
            item = reading.next()
            assert not isinstance(item, Batch) or not item.records, f"there is nothing to read, and yet {item}"
            assert not isinstance(item, Idle) or 0 <= item.seconds <= IDLE_MAX_S, f"{item} is no pause"
        finally:
            reading.close()

    def test_it_closes_what_it_opened(self, tmp_path: Path) -> None:
        source = self._source(tmp_path)
        self._read(source)
        before = len(os.listdir(_OPEN_FILES))
        reading = SourceSession(source)
        reading.next()
        reading.close()
        after = len(os.listdir(_OPEN_FILES))
        assert after <= before, f"{after - before} files or sockets are open after the generator was closed"
        assert len(records_of(self._read(source))) == self.count, "the source cannot be read again after it was closed"

    def test_offsets_that_make_no_sense_are_refused(self, tmp_path: Path) -> None:
        source = self._source(tmp_path)
        if type(source).check_offsets is Source.check_offsets:
            pytest.skip("the source does not look at offsets that somebody sets")
        reached = reached_after(self._read(source))
        source.check_offsets(reached)
        source.check_offsets([SourceOffset(each.partition, None) for each in reached])
        for each in reached:
            with pytest.raises(InvalidOffsets):
                source.check_offsets([self.nonsense(each)])

    def _config(self, folder: Path, count: int) -> dict[str, str]:
        return {**self.config, **self.arrange(folder, count)}

    def _source(self, folder: Path) -> Source[Any]:
        source: Source[Any] = self.make(self.complete(folder))
        assert not list(source.check()), f"a source that works has problems: {list(source.check())}"
        return source

    def _read(self, source: Source[Any], after: list[Batch] | None = None) -> list[Batch]:
        reading = SourceSession(source, reached_after(after or []))
        try:
            return reading.batches()
        finally:
            reading.close()

    def _counted(self, batches: list[Batch]) -> Counter[Any]:
        return Counter(map(self.identity, records_of(batches)))
