"""A source that makes records up: for demonstrations, tests and measurements."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

from connect.api.record import Record
from connect.api.source import Batch, Idle, Offsets, Shard, Source, SourceOffset, require_names
from connect.connectors.datagen.generators import parse_fields, split_fields
from connect.connectors.datagen.settings import DatagenSettings
from connect.data.schema import STRING, Field, Schema, Type
from connect.errors import InvalidOffsets

GENERATOR: Final = "generator"
SHARES: Final = "of"
"""How many generators there are."""
POSITION: Final = "position"
"""The number of the record that comes next."""
IDLE_S: Final = 0.1
DONE_S: Final = 1.0


def partition_of(generator: int) -> Shard:
    return {GENERATOR: str(generator)}


class DatagenSource(Source[DatagenSettings]):
    """Makes records of fields with realistic values. The n-th record is the same each time, but for times, whichever task makes it."""

    settings_type = DatagenSettings

    def __init__(self, settings: DatagenSettings) -> None:
        super().__init__(settings)
        self._fields = () if settings.text_bytes is not None else parse_fields(split_fields(settings.declared))
        self._schema = Schema(Type.STRUCT, fields=tuple(Field(field.name, field.schema) for field in self._fields))
        key = None if settings.text_bytes is not None or settings.key is None else self._schema.field_of(settings.key)
        self._key_schema = None if key is None else key.schema

    def shards(self) -> Sequence[Shard]:
        return [{**partition_of(number), SHARES: self.tasks_max} for number in range(self.tasks_max)]

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        pace = _Pace(self.settings)
        generators = [_Numbers(shard, self.settings.iterations, offsets) for shard in shards]
        while True:
            pauses = []
            for numbers in generators:
                turn = self._turn(numbers, pace)
                if isinstance(turn, Batch):
                    yield turn
                else:
                    pauses.append(turn)
            if len(pauses) == len(generators):
                yield min(pauses, key=lambda pause: pause.seconds)

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        for partition, offset in offsets:
            if offset is None:
                continue
            if partition not in map(partition_of, range(self.tasks_max)):
                expected = f"{partition_of(0)} up to {partition_of(self.tasks_max - 1)}"
                raise InvalidOffsets(f"{dict(partition)} is no generator of this connector: expected {expected}")
            require_names(offset, (POSITION,))
            position = offset.get(POSITION)
            if type(position) is not int or position < 0:
                raise InvalidOffsets(f"{POSITION} must be a whole number, 0 or more, not {position!r}")

    def _turn(self, numbers: _Numbers, pace: _Pace) -> Batch | Idle:
        left = numbers.left(self.settings.batch_size)
        if not left:
            return Idle(DONE_S)
        size = pace.allowed(left)
        if not size:
            return Idle(IDLE_S)
        records = self._records(numbers.take(size))
        return Batch(records, [SourceOffset(numbers.partition, {POSITION: numbers.position})])

    def _records(self, numbers: range) -> list[Record]:
        settings = self.settings
        if settings.text_bytes is not None:
            return [Record(settings.topic, "x" * settings.text_bytes, STRING)] * len(numbers)
        return list(map(self._record, numbers))

    def _record(self, number: int) -> Record:
        random = Random(f"{self.settings.seed}:{number}")
        value: dict[str, Any] = {field.name: field.generate(random, number) for field in self._fields}
        key = self.settings.key
        if key is None:
            return Record(self.settings.topic, value, self._schema)
        return Record(self.settings.topic, value, self._schema, value[key], self._key_schema)


class _Numbers:
    """The numbers of the records that one generator makes: each of them takes every n-th, so that none is made by two."""

    def __init__(self, shard: Shard, end: int, offsets: Offsets) -> None:
        generator = int(shard.get(GENERATOR, 0))
        self.partition = partition_of(generator)
        self._step = int(shard.get(SHARES, 1))
        self._end = end
        position = (offsets.get(self.partition) or {POSITION: 0})[POSITION]
        self.position: int = position + (generator - position) % self._step

    def left(self, limit: int) -> int:
        return limit if self._end < 0 else min(limit, len(range(self.position, self._end, self._step)))

    def take(self, count: int) -> range:
        first, self.position = self.position, self.position + count * self._step
        return range(first, self.position, self._step)


class _Pace:
    """How many records may be made now."""

    def __init__(self, settings: DatagenSettings) -> None:
        self._rate = settings.rate
        if self._rate is None and settings.max_interval_ms and settings.text_bytes is None:
            # Pauses are between nothing and the longest, which is half of it on average.
            self._rate = 2_000 / settings.max_interval_ms
        self._start_s = time.monotonic()
        self._made = 0

    def allowed(self, size: int) -> int:
        if self._rate is not None:
            due = int((time.monotonic() - self._start_s) * self._rate) + 1
            size = min(size, due - self._made)
        self._made += size
        return size
