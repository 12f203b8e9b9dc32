"""Small connectors that tests run in processes of their own; the catalogue loads this file by its path."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect.api.plugin import Plugin, PluginKind
from connect.api.record import Header, Record
from connect.api.settings import setting
from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.api.source import Batch, Idle, Offsets, RejectedInput, Shard, Source, SourceOffset
from connect.data.schema import STRING
from connect.errors import DataError, InvalidOffsets, Problem, Retry
from connect.transforms.transform import Predicate, Transform

PARTITION = {"numbers": "all"}


@dataclass(frozen=True, slots=True)
class NumbersSettings:
    topic: str = setting("topic", "Where the numbers go.")
    count: int = setting("count", "How many there are.", 1000)
    batch: int = setting("batch", "How many are read together.", 100)
    pause_s: float = setting("pause", "How long to rest after each batch.", 0.0)
    away: str = setting("away", "While this file exists, the source cannot be reached.", "")
    rejected: str = setting("rejected", "Input that is no number.", "")
    password: str = setting("password", "A secret.", "", secret=True)
    behaviour: str = setting("behaviour", "What else it does.", "")
    begun: str = setting("begun", "This file is made when it does that.", "")


class Numbers(Source[NumbersSettings]):
    """The numbers from 0 on, as text, each also its key."""

    settings_type = NumbersSettings

    def shards(self) -> Sequence[Shard]:
        if self.settings.behaviour == "hangs":
            time.sleep(3600)
        return [{"part": number} for number in range(3)]

    @property
    def rescan_s(self) -> float | None:
        return 7.0

    def check(self) -> Iterable[Problem]:
        if self.settings.behaviour == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        yield Problem("topic", "nobody answers")

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        for each in offsets:
            if each.offset is not None and not isinstance(each.offset.get("next"), int):
                raise InvalidOffsets(f"next must be a whole number, not {each.offset.get('next')}")

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        settings = self.settings
        self._misbehave()
        start = (offsets.get(PARTITION) or {"next": 0})["next"]
        for first in range(start, settings.count, settings.batch):
            if settings.away and Path(settings.away).exists():
                raise Retry("the numbers are away")
            numbers = range(first, min(first + settings.batch, settings.count))
            records = [
                Record(settings.topic, str(number), STRING, str(number), STRING, headers=_headers(number))
                for number in numbers
            ]
            rejected = [RejectedInput(settings.topic, b"?", "no number")] if settings.rejected and first == 0 else []
            yield Batch(records, [SourceOffset(PARTITION, {"next": numbers.stop})], rejected)
            if settings.pause_s:
                yield Idle(settings.pause_s)

    def _misbehave(self) -> None:
        behaviour = self.settings.behaviour
        if behaviour == "hangs on":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.settings.begun:
            Path(self.settings.begun).touch()
        if behaviour.startswith("hangs"):
            time.sleep(3600)
        if behaviour == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if behaviour == "fails":
            raise RuntimeError(f"cannot log in with {self.settings.password}") from KeyError("column")


def _headers(number: int) -> tuple[Header, ...]:
    return (Header("tenth", number // 10, None),) if number and number % 10 == 0 else ()


class AsyncNumbers(Source[NumbersSettings]):
    """The same as a coroutine."""

    settings_type = NumbersSettings

    async def read(self, shards: Sequence[Shard], offsets: Offsets) -> AsyncIterator[Batch | Idle]:
        for number in range(self.settings.count):
            await asyncio.sleep(0)
            yield Batch([Record(self.settings.topic, str(number), STRING)])


@dataclass(frozen=True, slots=True)
class LinesSettings:
    file: str = setting("file", "Where the lines go.")
    away: str = setting("away", "While this file exists, the target cannot be reached.", "")
    rejects: tuple[str, ...] = setting("rejects", "Values that are rejected one by one.", ())
    refusal: str = setting("refusal", "Why they are, with {} for the value.", "{} does not fit")
    poison: tuple[str, ...] = setting("poison", "Values that spoil their batch.", ())
    keeps_positions: bool = setting("keeps.positions", "Whether the target says where to read on.", False)


class Lines(Sink[LinesSettings]):
    """Appends `topic partition offset value` to a file, and `flush` and `close` when these happen."""

    settings_type = LinesSettings

    def write(self, records: Sequence[Record]) -> Any:
        settings = self.settings
        if settings.away and Path(settings.away).exists():
            raise Retry("the target is away", after_s=0.05)
        if any(str(record.value) in settings.poison for record in records):
            raise DataError("a value spoils the batch")
        taken = [record for record in records if record.value not in settings.rejects]
        self._append([f"{record.topic} {record.partition} {record.offset} {record.value}" for record in taken])
        return [
            RejectedRecord(place, DataError(settings.refusal.format(record.value)))
            for place, record in enumerate(records)
            if record.value in settings.rejects
        ]

    def flush(self) -> None:
        self._append(["flush"])

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(partitions, 5) if self.settings.keeps_positions else {}

    def close_partitions(self, partitions: Sequence[TopicPartition]) -> None:
        self._append([f"close {len(partitions)}"])

    def _append(self, lines: Sequence[str]) -> None:
        with Path(self.settings.file).open("a") as file:
            file.writelines(f"{line}\n" for line in lines)


class AsyncLines(Lines):
    """The same as a coroutine."""

    async def write(self, records: Sequence[Record]) -> Any:
        await asyncio.sleep(0)
        return super().write(records)


@dataclass(frozen=True, slots=True)
class MatchSettings:
    values: tuple[str, ...] = setting("values", "Values that are meant.", ())


class Fussy(Transform):
    """Cannot deal with some values, and makes all others shout."""

    settings_type = MatchSettings

    def apply(self, record: Record) -> Record | None:
        if record.value in self.settings.values:
            raise ValueError(f"{record.value} cannot be changed")
        return record._replace(value=f"{record.value}!")


class Lengthen(Transform):
    """Makes some values too long."""

    settings_type = MatchSettings

    def apply(self, record: Record) -> Record | None:
        return record._replace(value="x" * 2000) if record.value in self.settings.values else record


class Drop(Transform):
    settings_type = MatchSettings

    def apply(self, record: Record) -> Record | None:
        return None


class IsOneOf(Predicate):
    settings_type = MatchSettings

    def holds(self, record: Record) -> bool:
        return record.value in self.settings.values


NUMBERS = Plugin(PluginKind.SOURCE, "numbers", "tests.Numbers", NumbersSettings, Numbers)
ASYNC_NUMBERS = Plugin(PluginKind.SOURCE, "async-numbers", "tests.AsyncNumbers", NumbersSettings, AsyncNumbers)
LINES = Plugin(PluginKind.SINK, "lines", "tests.Lines", LinesSettings, Lines)
ASYNC_LINES = Plugin(PluginKind.SINK, "async-lines", "tests.AsyncLines", LinesSettings, AsyncLines)
FUSSY = Plugin(PluginKind.TRANSFORMATION, "fussy", "tests.Fussy", MatchSettings, Fussy)
LENGTHEN = Plugin(PluginKind.TRANSFORMATION, "lengthen", "tests.Lengthen", MatchSettings, Lengthen)
DROP = Plugin(PluginKind.TRANSFORMATION, "drop", "tests.Drop", MatchSettings, Drop)
IS_ONE_OF = Plugin(PluginKind.PREDICATE, "one-of", "tests.IsOneOf", MatchSettings, IsOneOf)
