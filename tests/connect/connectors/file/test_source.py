"""The file source on real files that grow, are rotated and cut."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connect.api.settings import read
from connect.api.source import Batch, Idle, Offsets, SourceOffset
from connect.connectors.file.file_reader import FileReader
from connect.connectors.file.source import FileSource
from connect.connectors.file.source_settings import FileSourceSettings
from connect.errors import InvalidOffsets, InvalidSettings


class Reading:
    """A source in use: what it read last, and how far that was."""

    def __init__(self, file: Path | str, offset: dict[str, Any] | None = None, **settings: str) -> None:
        config = {"topic": "t", "file": str(file), **{name.replace("_", "."): text for name, text in settings.items()}}
        self.source = FileSource(read(FileSourceSettings, config))
        self.batches: list[Batch] = []
        shards = self.source.shards()
        given = [SourceOffset(shard, offset) for shard in shards if offset is not None]
        self._reading: Iterator[Batch | Idle] = iter(self.source.read(shards, Offsets(given)))

    def next(self) -> list[Any]:
        """The values up to the end of the files."""
        values: list[Any] = []
        while not isinstance(batch := next(self._reading), Idle):
            self.batches.append(batch)
            values += [record.value for record in batch.records]
        return values

    @property
    def offset(self) -> dict[str, Any]:
        (reached,) = self.batches[-1].offsets
        return dict(reached.offset or {})

    @property
    def rejected(self) -> list[str]:
        return [each.reason for batch in self.batches for each in batch.rejected]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


@pytest.mark.parametrize(
    ("content", "lines", "position"),
    [
        (b"a\nb\n", ["a", "b"], 4),
        (b"a\r\nb\r\n", ["a", "b"], 6),
        (b"a\rb\rc", ["a", "b"], 4),
        (b"\n\n", ["", ""], 2),
        ("ä€😀\nx\n".encode(), ["ä€😀", "x"], 12),
        (b"a\x0bb\x0cc\x1cd\n", ["a\x0bb\x0cc\x1cd"], 8),
    ],
)
def test_lines_and_positions_in_bytes(file: Path, content: bytes, lines: list[str], position: int) -> None:
    file.write_bytes(content)
    reading = Reading(file)
    assert reading.next() == lines
    assert reading.offset["position"] == position


def test_a_line_without_an_end_waits_for_it(file: Path) -> None:
    file.write_bytes(b"a\nbe")
    reading = Reading(file)
    assert reading.next() == ["a"]
    with file.open("ab") as growing:
        growing.write(b"gun\r")
    assert reading.next() == []
    with file.open("ab") as growing:
        growing.write(b"\nc\n")
    assert reading.next() == ["begun", "c"]


def test_the_last_line_may_be_read_without_an_end(file: Path) -> None:
    file.write_bytes(b"a\nb")
    assert Reading(file, last_line_after_ms="0").next() == ["a", "b"]


@pytest.mark.parametrize(("offset", "lines"), [(0, ["ä", "bb", "ccc"]), (3, ["bb", "ccc"]), (6, ["ccc"]), (10, [])])
def test_reading_goes_on_behind_any_line(file: Path, offset: int, lines: list[str]) -> None:
    file.write_bytes("ä\nbb\nccc\n".encode())
    assert Reading(file, {"position": offset}).next() == lines


def test_batches_have_a_position_each(file: Path) -> None:
    file.write_bytes(b"a\nb\nc\nd\ne\n")
    reading = Reading(file, batch_size="2")
    reading.next()
    assert [(len(batch.records), batch.offsets[0].offset["position"]) for batch in reading.batches] == [  # type: ignore[index]
        (2, 4),
        (2, 8),
        (1, 10),
    ]


def test_a_file_that_is_not_there_yet_is_waited_for(file: Path) -> None:
    reading = Reading(file)
    assert reading.next() == []
    file.write_bytes(b"a\n")
    assert reading.next() == ["a"]


def test_a_rotated_file_is_read_to_its_end_before_the_new_one(file: Path) -> None:
    file.write_bytes(b"a\n")
    reading = Reading(file)
    assert reading.next() == ["a"]
    with file.open("ab") as growing:
        growing.write(b"b\n")
        file.rename(file.with_name("app.log.1"))
        growing.write(b"c\n")
    file.write_bytes(b"d\n")
    assert reading.next() == ["b", "c", "d"]


def test_a_file_that_was_rotated_while_nobody_read_is_found_again(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    reading = Reading(file, batch_size="1")
    reading.next()
    former = dict(reading.batches[0].offsets[0].offset or {})
    file.rename(file.with_name("app.log.1"))
    file.write_bytes(b"c\n")
    assert Reading(file, former).next() == ["b", "c"]


def test_a_file_that_was_replaced_for_good_is_read_from_its_start(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_bytes(b"a\nb\n")
    reading = Reading(file)
    reading.next()
    other = file.with_name("other")
    other.write_bytes(b"x\ny\nz\n")
    other.replace(file)
    assert Reading(file, reading.offset).next() == ["x", "y", "z"]
    assert "is another file than the one that was read before" in caplog.text


def test_a_truncated_file_is_read_from_its_start(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_bytes(b"a\nb\n")
    reading = Reading(file)
    reading.next()
    file.write_bytes(b"c\n")
    assert reading.next() == ["c"]
    assert "was truncated below 4 bytes" in caplog.text


def test_compressed_files_are_read_as_their_content(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt.gz"
    file.write_bytes(gzip.compress(b"a\nb\nc\n"))
    assert Reading(file).next() == ["a", "b", "c"]
    assert Reading(file, {"position": 2}).next() == ["b", "c"]


def test_a_pattern_has_a_shard_for_each_file(tmp_path: Path) -> None:
    for name in ("b.log", "a.log", "c.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    reading = Reading(f"{tmp_path}/*.log")
    assert reading.next() == ["a.log", "b.log"]
    assert reading.source.rescan_s == 30


@pytest.mark.parametrize("length", [1_001, 1_048_574, 3_000_000])
def test_a_line_that_is_too_long_is_rejected_alone(file: Path, length: int) -> None:
    file.write_bytes(b"a\n" + b"x" * length + b"\nb\n")
    reading = Reading(file, line_max_bytes="1000")
    assert reading.next() == ["a", "b"]
    assert reading.rejected == ["the line is longer than line.max.bytes=1000"]
    assert reading.offset["position"] == length + 5


def test_bytes_that_are_no_text_are_rejected_alone(file: Path) -> None:
    file.write_bytes(b"a\n\xff\nb\n")
    reading = Reading(file)
    assert reading.next() == ["a", "b"]
    assert [each.data for each in reading.batches[0].rejected] == [b"\xff"]


def test_csv_has_a_field_for_each_name_of_its_first_line(file: Path) -> None:
    file.write_text('id,name\n1,"K., Josef"\n2,"two\nlines"\n3,\n')
    reading = Reading(file, format="csv", key_columns="id")
    assert reading.next() == [
        {"id": "1", "name": "K., Josef"}, {"id": "2", "name": "two\nlines"}, {"id": "3", "name": None}
    ]  # fmt: skip
    record = reading.batches[0].records[0]
    assert record.key == {"id": "1"}
    assert record.value_schema is not None
    assert [field.name for field in record.value_schema.fields] == ["id", "name"]


def test_csv_goes_on_behind_its_first_line_with_its_names(file: Path) -> None:
    file.write_text("id,name\n1,a\n2,b\n")
    reading = Reading(file, format="csv", batch_size="2")
    reading.next()
    offset = dict(reading.batches[0].offsets[0].offset or {})
    assert Reading(file, offset, format="csv").next() == [{"id": "2", "name": "b"}]


def test_columns_have_types(file: Path) -> None:
    file.write_text("1,2.50,true,2024-02-03T04:05:06+01:00\nx,1,1,2024-02-03\n,,,\n")
    columns = "id:int32, price:decimal(2), open:boolean?, at:timestamp"
    reading = Reading(file, format="csv", columns=columns, csv_header="false")
    assert reading.next() == [
        {"id": 1, "price": Decimal("2.50"), "open": True, "at": datetime(2024, 2, 3, 3, 5, 6, tzinfo=UTC)}
    ]
    assert reading.rejected == ["column id: 'x' is no int32", "column id: '' is no int32"]


def test_json_lines_are_values_and_with_columns_have_a_schema(file: Path) -> None:
    file.write_text('{"id": 1, "x": [1]}\n\nnope\n{"id": "a"}\n')
    plain = Reading(file, format="json")
    assert plain.next() == [{"id": 1, "x": [1]}, {"id": "a"}]
    assert len(plain.rejected) == 1
    typed = Reading(file, format="json", columns="id:int64")
    assert typed.next() == [{"id": 1}]
    assert len(typed.rejected) == 2


@pytest.mark.parametrize(
    ("partition", "offset", "reason"),
    [
        ({"file": "x"}, {"position": 1}, "must name a file under 'filename'"),
        ({"filename": "x"}, {}, "position must be a whole number of bytes, 0 or more, not None"),
        ({"filename": "x"}, {"position": -1}, "not -1"),
        ({"filename": "x"}, {"position": "1"}, "not '1'"),
        ({"filename": "x"}, {"postion": 1}, "no postion: expected position, file"),
        ({"filename": "x"}, {"position": 1, "file": 7}, "file must be a text"),
        ({"filename": "y"}, {"position": 1}, "'y' is no file that this connector reads: expected x"),
        ({"filename": "x", "line": 1}, {"position": 1}, "must name a file under 'filename'"),
    ],
)
def test_offsets_that_somebody_sets_are_checked(partition: dict[str, Any], offset: dict[str, Any], reason: str) -> None:
    source = FileSource(read(FileSourceSettings, {"topic": "t", "file": "x"}))
    with pytest.raises(InvalidOffsets, match=reason):
        source.check_offsets([SourceOffset(partition, offset)])
    source.check_offsets([SourceOffset({"filename": "gone"}, None), SourceOffset({"filename": "x"}, {"position": 1})])


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"topic": ""}, "topic"),
        ({"encoding": "klingon"}, "encoding"),
        ({"csv.delimiter": ";;"}, "csv.delimiter"),
        ({"columns": "a:int32"}, "format"),
        ({"format": "csv", "columns": "a"}, "columns"),
        ({"format": "csv", "columns": "a:decimal"}, "columns"),
        ({"format": "csv", "columns": "a:int8,a:int8"}, "columns"),
        ({"format": "csv", "columns": "a:int8", "key.columns": "b"}, "key.columns"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings: dict[str, str], name: str) -> None:
    with pytest.raises(InvalidSettings) as failure:
        read(FileSourceSettings, {"topic": "t", **settings})
    assert [problem.name for problem in failure.value.problems] == [name]


def test_a_last_line_is_waited_for_as_long_as_the_setting_says(file: Path) -> None:
    now_s = [0.0]
    file.write_bytes(b"a")
    settings = read(FileSourceSettings, {"topic": "t", "last.line.after.ms": "500"})
    reader = FileReader(file, settings, None, lambda: now_s[0])
    assert list(reader.read()) == []
    now_s[0] = 0.5
    assert [record.value for batch in reader.read() for record in batch.records] == ["a"]
    reader.close()
