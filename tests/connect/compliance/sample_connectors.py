"""A source and a sink that are sound, and such as have one defect each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from connect.api.declaration import sink, source
from connect.api.plugin import Plugin
from connect.api.record import Record
from connect.api.settings import setting
from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.api.source import Batch, Idle, Offsets, Shard, Source, SourceOffset
from connect.errors import DataError, InvalidOffsets, Retry

PART = {"counter": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSettings:
    topic: str = setting("topic", "Where to.")
    file: str = setting("file", "The file that says how far.")
    size: int = setting("size", "Records at a time.", 7, minimum=1, maximum=100)


class Numbers(Source[NumberSettings]):
    """Counts as far as a file says."""

    settings_type = NumberSettings

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        position = (offsets.get(PART) or {"next": 0})["next"]
        while True:
            end = min(position + self.settings.size, int(Path(self.settings.file).read_text()))
            if position == end:
                yield Idle(0.001)
                continue
            records = [Record(self.settings.topic, number) for number in range(position, end)]
            position = end
            yield Batch(records, [SourceOffset(PART, self.told(position))])

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        for _, offset in offsets:
            if offset is not None and not isinstance(offset.get("next"), int):
                raise InvalidOffsets("next must be a whole number")

    def told(self, position: int) -> Mapping[str, Any]:
        return {"next": position}


class Losing(Numbers):
    """Tells that it has come further than it has."""

    def told(self, position: int) -> Mapping[str, Any]:
        return {"next": position + 1}


class Repeating(Numbers):
    """Tells less than it has read."""

    def told(self, position: int) -> Mapping[str, Any]:
        return {"next": max(0, position - 1)}


class NotJson(Numbers):
    """Tells offsets that JSON has otherwise."""

    def told(self, position: int) -> Mapping[str, Any]:
        return {"next": position, "at": (position,)}


class Ending(Numbers):
    """Ends where it should wait."""

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        for item in super().read(shards, offsets):
            if isinstance(item, Idle):
                return
            yield item


class Inventing(Numbers):
    """Has something where there is nothing."""

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        yield Batch([Record("t", "hello")])


class Leaking(Numbers):
    """Leaves files open."""

    left: ClassVar[list[Any]] = []

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        self.left.append(Path(self.settings.file).open())  # noqa: SIM115 - the defect
        yield from super().read(shards, offsets)


class Trusting(Numbers):
    """Takes any offsets."""

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    password: str = setting("password", "Opens the store.", secret=True)


class Store:
    """A target that can be away, with its rows and the offset behind them."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.next = 0
        self.is_away = False


STORE: list[Store] = []
"""The target of the running test alone."""


class StoreSink(Sink[StoreSettings]):
    """Writes each record once."""

    settings_type = StoreSettings

    def __init__(self, settings: StoreSettings) -> None:
        super().__init__(settings)
        self.pending: list[tuple[int, int]] = []

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        bad = [place for place, record in enumerate(records) if "bad" in record.value]
        self.pending += [
            (record.value["id"], record.offset or 0) for place, record in enumerate(records) if place not in bad
        ]
        return [RejectedRecord(place, DataError("bad")) for place in bad]

    def flush(self) -> None:
        store = STORE[-1]
        if store.is_away:
            self.pending.clear()
            raise Retry("the store is away")
        store.rows += [number for number, _ in self.pending]
        store.next = max([store.next, *[offset + 1 for _, offset in self.pending]])
        self.pending.clear()

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(partitions, STORE[-1].next)


class Disordered(StoreSink):
    """Writes backwards."""

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        return super().write(records[::-1])


class Forgetful(StoreSink):
    """Does nothing when it is flushed."""

    def flush(self) -> None:
        return


class Misleading(StoreSink):
    """Says that it has come less far than it has."""

    def positions(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(partitions, 5)


class Sweeping(StoreSink):
    """Rejects everything for the sake of one record."""

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        if super().write(records):
            self.pending.clear()
            return [RejectedRecord(place, DataError("bad")) for place in range(len(records))]
        return []


class Whole(StoreSink):
    """Leaves it to the engine to find the bad record."""

    def write(self, records: Sequence[Record]) -> Sequence[RejectedRecord]:
        if any("bad" in record.value for record in records):
            raise DataError("one of them is bad")
        return super().write(records)


class Careless(StoreSink):
    """Takes records while the store is away, and drops them."""

    def flush(self) -> None:
        if STORE[-1].is_away:
            self.pending.clear()
            return
        super().flush()


class Telling(StoreSink):
    """Tells its password when the store is away."""

    def flush(self) -> None:
        if STORE[-1].is_away:
            raise Retry(f"the store is away for {self.settings.password}")
        super().flush()


def source_plugin(kind: type[Source[Any]]) -> Plugin:
    return source("sample")(kind)


def sink_plugin(kind: type[Sink[Any]]) -> Plugin:
    return sink("sample")(kind)
