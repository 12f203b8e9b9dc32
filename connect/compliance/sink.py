"""The tests that every sink should pass.

In the tests of a connector:

    class TestLines(SinkCompliance):
        plugin = lines

        def arrange(self, folder: Path) -> Mapping[str, str]:
            return {"file": str(folder / "out.jsonl")}

        def written(self, folder: Path) -> list[int]:
            return [json.loads(line)["id"] for line in (folder / "out.jsonl").read_text().splitlines()]
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from connect.api.record import Record
from connect.api.sink import Sink, TopicPartition
from connect.compliance.settings import SettingsCompliance
from connect.compliance.sink_session import SinkSession
from connect.errors import Retry

TOPIC: Final = "compliance"
PLACE: Final = TopicPartition(TOPIC, 0)


class SinkCompliance(SettingsCompliance):
    """Inherit, name `plugin` and `config`, and say how a target is arranged and what it holds."""

    keeps_records: ClassVar[bool] = True
    """Whether the target can be asked what was written."""

    @abstractmethod
    def arrange(self, folder: Path) -> Mapping[str, str]:
        """Prepare a target, with what lies in the folder, and return the settings that lead to it. Again: the same target."""

    def written(self, folder: Path) -> Sequence[int]:
        """The numbers of the records that the target holds, in its order."""
        raise NotImplementedError

    def record(self, number: int) -> Record:
        """The record of a number; its place in the topic is given to it by the tests."""
        return Record(TOPIC, {"id": number, "name": f"row {number}"}, key=number)

    def bad_record(self, number: int) -> Record | None:
        """A record that the target never takes; None when it takes any."""
        return None

    def away(self, folder: Path) -> AbstractContextManager[object] | None:
        """The time in which the target does not answer; None when that cannot be brought about."""
        return None

    def complete(self, folder: Path) -> dict[str, str]:
        return {**self.config, **self.arrange(folder)}

    def test_everything_is_written_in_order(self, tmp_path: Path) -> None:
        with self._writing(tmp_path) as writing:
            for start in (0, 10, 20):
                assert writing.write(self._records(range(start, start + 10))) == []
            writing.flush()
        self._expect(tmp_path, list(range(30)))

    def test_a_flush_makes_durable(self, tmp_path: Path) -> None:
        """What was flushed is there, although the task has not ended and never may."""
        with self._writing(tmp_path) as writing:
            writing.write(self._records(range(10)))
            writing.flush()
            self._expect(tmp_path, list(range(10)))

    def test_a_task_that_died_is_followed_by_one_that_loses_nothing(self, tmp_path: Path) -> None:
        """Records come again from the last flush on, or from where the target says that it is: then each is there once."""
        with self._writing(tmp_path) as writing:
            writing.write(self._records(range(10)))
            writing.flush()
            writing.write(self._records(range(10, 20)))
        with self._writing(tmp_path) as writing:
            position = writing.sink.positions([PLACE]).get(PLACE)
            writing.write(self._records(range(10 if position is None else position, 30)))
            writing.flush()
        found = self._found(tmp_path)
        assert list(dict.fromkeys(found)) == list(range(30)), f"records are lost, or out of order: {found}"
        if position is not None:
            assert len(found) == len(set(found)), f"the sink keeps positions, and yet writes records twice: {found}"

    def test_a_bad_row_is_rejected_alone(self, tmp_path: Path) -> None:
        bad = self.bad_record(4)
        if bad is None:
            pytest.skip("the target takes any record")
        batch = self._records(range(10))
        batch[4] = bad._replace(topic=TOPIC, partition=0, offset=4)
        with self._writing(tmp_path) as writing:
            rejected = writing.write(batch)
            writing.flush()
        assert rejected == [4], f"the record at place 4 is bad, and {rejected} were rejected"
        self._expect(tmp_path, [number for number in range(10) if number != 4])

    def test_a_target_that_is_away_is_waited_for(self, tmp_path: Path) -> None:
        with self._writing(tmp_path) as writing:
            writing.write(self._records(range(5)))
            writing.flush()
            away = self.away(tmp_path)
            if away is None:
                pytest.skip("the target is always there")
            with away, pytest.raises(Retry) as retry:
                self._write_and_flush(writing, range(5, 10))
            self._write_and_flush(writing, range(5, 10))
        found = self._found(tmp_path)
        assert list(dict.fromkeys(found)) == list(range(10)), f"records are lost, or out of order: {found}"
        hidden = [key.name for key in self.keys() if key.hidden]
        secrets = [text for name, text in self.complete(tmp_path).items() if name in hidden and text]
        assert not any(secret in str(retry.value) for secret in secrets), f"the message tells a secret: {retry.value}"

    def test_a_sink_that_wrote_nothing_can_be_stopped(self, tmp_path: Path) -> None:
        with self._writing(tmp_path) as writing:
            writing.flush()
        self._expect(tmp_path, [])

    def _writing(self, folder: Path) -> SinkSession:
        sink: Sink[Any] = self.make(self.complete(folder))
        assert not list(sink.check()), f"a sink that works has problems: {list(sink.check())}"
        return SinkSession(sink)

    def _write_and_flush(self, writing: SinkSession, numbers: range) -> None:
        writing.write(self._records(numbers))
        writing.flush()

    def _records(self, numbers: Iterable[int]) -> list[Record]:
        return [self.record(number)._replace(topic=TOPIC, partition=0, offset=number) for number in numbers]

    def _expect(self, folder: Path, numbers: list[int]) -> None:
        if self.keeps_records:
            found = self._found(folder)
            assert found == numbers, f"expected the records {numbers} in the target, which holds {found}"

    def _found(self, folder: Path) -> list[int]:
        if not self.keeps_records:
            pytest.skip("the target keeps nothing")
        return list(self.written(folder))
