"""The file sink, and what a crash leaves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connect.api.record import Record
from connect.api.settings import read
from connect.api.sink import TopicPartition
from connect.connectors.file.sink import FileSink
from connect.connectors.file.sink_settings import FileSinkSettings
from connect.data.schema import INT32, STRING, struct
from connect.errors import ConnectError, Retry

PLACE = TopicPartition("t", 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


Make = Callable[..., FileSink]


@pytest.fixture
def sink_to() -> Iterator[Make]:
    made: list[FileSink] = []

    def make(file: Path | str, **settings: str) -> FileSink:
        config = {"file": str(file), **{name.replace("_", "."): text for name, text in settings.items()}}
        made.append(FileSink(read(FileSinkSettings, config)))
        return made[-1]

    yield make
    for sink in made:
        sink.stop()


def records(*values: Any, start: int = 0, partition: int = 0, topic: str = "t") -> list[Record]:
    return [Record(topic, value, partition=partition, offset=offset) for offset, value in enumerate(values, start)]


@pytest.fixture
def exact(file: Path, sink_to: Make) -> FileSink:
    return sink_to(file, exactly_once="true")


def test_a_record_is_a_line_as_kafka_writes_it(file: Path, sink_to: Make) -> None:
    sink = sink_to(file)
    schema = struct(("a", INT32), ("b", STRING))
    sink.write([*records("text", None, 7, True, {"k": [1, "x"]}), Record("t", {"a": 1, "b": "x"}, schema)])
    sink.flush()
    assert file.read_text().splitlines() == ["text", "null", "7", "true", "{k=[1, x]}", "Struct{a=1,b=x}"]


def test_json_lines(file: Path, sink_to: Make) -> None:
    sink = sink_to(file, format="json")
    sink.write(records({"a": Decimal("1.50")}, "x", b"\x00"))
    sink.flush()
    assert file.read_text() == '{"a":"1.50"}\n"x"\n"AA=="\n'


def test_a_name_may_hold_topic_and_partition(tmp_path: Path, sink_to: Make) -> None:
    sink = sink_to(f"{tmp_path}/${{topic}}-${{partition}}.txt")
    sink.write([*records("a"), *records("b", partition=1), *records("c", topic="..")])
    sink.flush()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "t-0.txt": "a\n", "t-1.txt": "b\n", "__-0.txt": "c\n"
    }  # fmt: skip


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, sink_to: Make) -> None:
    missing = tmp_path / "no" / "such"
    for name in ("out.txt", "${topic}/out.txt"):
        with pytest.raises(ConnectError, match=f"the folder {missing} is not there; make it"):
            sink_to(missing / name).start()
    assert list(tmp_path.iterdir()) == []


def test_folders_named_after_topics_are_made(tmp_path: Path, sink_to: Make) -> None:
    sink = sink_to(f"{tmp_path}/${{topic}}/${{partition}}/out.txt")
    sink.start()
    sink.write(records("a"))
    sink.flush()
    assert (tmp_path / "t" / "0" / "out.txt").read_text() == "a\n"


def test_after_a_crash_each_record_is_there_once(file: Path, exact: FileSink, sink_to: Make) -> None:
    exact.write(records("a", "b"))
    exact.flush()
    exact.write(records("c", "d", start=2))
    exact.stop()
    with file.open("ab") as torn:
        torn.write(b"half of a li")
    again = sink_to(file, exactly_once="true")
    assert again.positions([PLACE]) == {PLACE: 2}
    again.write(records("c", "d", start=2))
    again.flush()
    assert file.read_text() == "a\nb\nc\nd\n"


def test_records_that_come_again_are_passed_over(file: Path, exact: FileSink) -> None:
    exact.write(records("a", "b"))
    exact.write(records("b", "c", start=1))
    exact.flush()
    assert file.read_text() == "a\nb\nc\n"


def test_two_tasks_do_not_share_an_exact_file(file: Path, exact: FileSink, sink_to: Make) -> None:
    exact.write(records("a"))
    with pytest.raises(ConnectError, match="is written by another task"):
        sink_to(file, exactly_once="true").write(records("b"))


def test_files_are_rolled_by_size(file: Path, sink_to: Make) -> None:
    sink = sink_to(file, roll_bytes="4", exactly_once="true")
    for start, value in enumerate("abcde"):
        sink.write(records(value * 3, start=start))
        sink.flush()
    sink.stop()
    rolled = sorted(path for path in file.parent.iterdir() if path.suffix == ".txt" and path != file)
    assert [path.read_text() for path in rolled] == [f"{value * 3}\n" for value in "abcde"]
    assert rolled[0].name == "out.000001.txt"
    assert sink_to(file, roll_bytes="4", exactly_once="true").positions([PLACE]) == {PLACE: 5}


def test_a_crash_in_the_midst_of_a_roll_loses_nothing(file: Path, sink_to: Make) -> None:
    sink = sink_to(file, roll_bytes="2", exactly_once="true")
    sink.write(records("a"))
    journal = file.with_name("out.txt.offsets")
    output = sink._files[str(file)]
    output._store(rolled=1)
    sink.stop()
    stored = journal.read_bytes()
    for is_renamed in (False, True):
        journal.write_bytes(stored)
        if is_renamed:
            file.rename(file.with_name("out.000001.txt"))
        again = sink_to(file, exactly_once="true")
        assert again.positions([PLACE]) == {PLACE: 1}
        again.stop()
    assert file.read_bytes() == b""
    assert file.with_name("out.000001.txt").read_text() == "a\n"


def test_a_full_disk_leaves_no_half_line_and_is_tried_again(file: Path, sink_to: Make) -> None:
    sink = sink_to(file)
    sink.write(records("a"))
    output = sink._files[str(file)]
    original = output._file

    class Full:
        """Takes half of what it is given, and then no more."""

        def __init__(self) -> None:
            self.calls = 0

        def write(self, data: memoryview) -> int:
            self.calls += 1
            if self.calls > 1:
                raise OSError(28, "No space left on device")
            return original.write(data[: len(data) // 2]) or 0

        def truncate(self, size: int) -> None:
            original.truncate(size)

    output._file = Full()  # type: ignore[assignment]
    with pytest.raises(Retry, match="No space left on device"):
        sink.write(records("b" * 100, start=1))
    output._file = original
    sink.write(records("b", start=1))
    sink.flush()
    assert file.read_text() == "a\nb\n"


def test_a_file_that_cannot_be_written_shows_at_the_start(tmp_path: Path, sink_to: Make) -> None:
    (tmp_path / "taken").write_text("no folder")
    with pytest.raises(ConnectError, match=r"cannot be written: .*taken"):
        sink_to(tmp_path / "taken" / "out.txt").start()
