"""The file connectors pass what all connectors must."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from connect.api.record import Record
from connect.compliance.sink import SinkCompliance
from connect.compliance.source import SourceCompliance
from connect.connectors.file.plugins import PLUGINS

SOURCE, SINK = PLUGINS


def write_lines(file: Path, lines: Sequence[str]) -> None:
    """Append what is not there yet: a file that is followed only grows."""
    there = len(file.read_text().splitlines()) if file.exists() else 0
    with file.open("a") as growing:
        growing.writelines(f"{line}\n" for line in lines[there:])


class TestLines(SourceCompliance):
    plugin = SOURCE
    config: ClassVar = {"topic": "t", "batch.size": "7"}

    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        write_lines(folder / "in.txt", [f"line {number} ä" for number in range(count)])
        return {"file": str(folder / "in.txt")}


class TestCsv(SourceCompliance):
    plugin = SOURCE
    config: ClassVar = {
        "topic": "t",
        "batch.size": "7",
        "format": "csv",
        "csv.delimiter": r"\t",
        "columns": "id:int64, name:string",
        "key.columns": "id",
    }

    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        write_lines(folder / "in.csv", ["id\tname", *[f"{number}\tn{number}, or so" for number in range(count)]])
        return {"file": str(folder / "in.csv")}


class TestManyFiles(SourceCompliance):
    plugin = SOURCE
    config: ClassVar = {"topic": "t", "batch.size": "3", "format": "json"}

    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        for place in range(4):
            write_lines(folder / f"{place}.jsonl", [f'{{"id": {number}}}' for number in range(place, count, 4)])
        return {"file": str(folder / "*.jsonl")}


class TestSink(SinkCompliance):
    plugin = SINK
    config: ClassVar = {"format": "json"}

    def arrange(self, folder: Path) -> Mapping[str, str]:
        (folder / "out").mkdir(exist_ok=True)
        return {"file": str(folder / "out" / "out.jsonl")}

    def written(self, folder: Path) -> Sequence[int]:
        file = folder / "out" / "out.jsonl"
        return [json.loads(line)["id"] for line in file.read_text().splitlines()] if file.exists() else []

    def bad_record(self, number: int) -> Record:
        return Record("t", {"id": 2**70})


class TestExactSink(TestSink):
    config: ClassVar = {"format": "json", "exactly.once": "true"}
