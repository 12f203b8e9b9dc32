"""Random streams and tables, and their records."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any, Final

from tests.streams_sql.recomputation.expressions import INTEGERS, WORDS, Type

PARTITIONS_MAX: Final = 8
KEY: Final = "k"
SECOND: Final = 1000
DAY: Final = 24 * 3600 * SECOND
START: Final = 1_700_000_000_000 // DAY * DAY
UNITS: Final = (1, SECOND, SECOND, 3600 * SECOND)
"""Of time: those of a case are multiples of one of these."""
_STEPS: Final = ((0,), (1,), (0, 1), (0, 1, 2, 3), (0, 1, 9))
"""Units of time between two records: one of these numbers."""
LARGE: Final = 1000
"""Cases with more records have more keys and different times: else each record would meet each other one in a join."""
_AT_BOUNDS: Final = 0.15
_AHEAD: Final = 0.2
"""Of the times at a bound, those that are later than all before."""
_PHASED: Final = 0.4
_IN_PHASE: Final = 0.9
"""Of the cases, those whose sources are written one after the other, and of their records, those that are: batches that read the same share of
each partition are then far apart in time."""
_NULLS: Final = 0.15
_EXTREMES: Final[Mapping[Type, tuple[Any, ...]]] = {
    Type.INTEGER: (0, 1, -1, 2**31 - 1, -(2**31)),
    Type.BIGINT: (0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)),
    Type.DOUBLE: (0.0, 0.1, -2.5e-300, 1.7976931348623157e308, 5e-324),
    Type.DECIMAL: (Decimal("0.00"), Decimal("9999999.99"), Decimal("-9999999.99"), Decimal("0.01")),
}


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    name: str
    type: Type
    is_extreme: bool = False


@dataclass(frozen=True, slots=True)
class SourceDefinition:
    """A stream or a table. All its columns but the key are in the value."""

    name: str
    is_table: bool
    columns: tuple[ColumnDefinition, ...]
    partitions: int

    def statement(self, topic: str) -> str:
        kind, key = ("TABLE", "PRIMARY KEY") if self.is_table else ("STREAM", "KEY")
        first, *others = self.columns
        declared = [f"{first.name} {first.type} {key}", *(f"{each.name} {each.type}" for each in others)]
        return (
            f"CREATE {kind} {self.name} ({', '.join(declared)}) "
            f"WITH (kafka_topic='{topic}', value_format='JSON', partitions={self.partitions});"
        )


@dataclass(frozen=True, slots=True)
class Record:
    """Without values, it is a tombstone. Its offset is its position among those of its partition."""

    source: str
    partition: int
    time: int
    key: Any
    values: Mapping[str, Any] | None

    def __str__(self) -> str:
        shown = "null" if self.values is None else _json(self.values)
        return f"{self.source}-{self.partition} @{self.time} {self.key!r}: {shown}"


def encoded_value(record: Record) -> bytes | None:
    return None if record.values is None else _json(record.values).encode()


def encoded_key(key: Any, type_: Type) -> bytes | None:
    """As Kafka's serializers write it."""
    match key, type_:
        case None, _:
            return None
        case _, Type.STRING:
            return str(key).encode()
        case _, Type.INTEGER:
            return struct.pack(">i", key)
    return struct.pack(">q", key)


def _json(values: Mapping[str, Any]) -> str:
    shown = {name: str(value) if isinstance(value, Decimal) else json.dumps(value) for name, value in values.items()}
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in shown.items()) + "}"


# -- definitions ----------------------------------------------------------------------------------


def random_sources(random: Random, suffix: str) -> tuple[SourceDefinition, ...]:
    """Two streams and two tables with keys of one type, so that each can be joined with each. Column `g` has that type, too. Their names
    end with the suffix."""
    key_type = random.choice((Type.STRING, Type.STRING, Type.INTEGER, Type.BIGINT))
    partitions = random.choice((1, 1, 2, 3, PARTITIONS_MAX))
    return tuple(
        SourceDefinition(
            name + suffix,
            is_table,
            _random_columns(random, key_type),
            random.choice((partitions, random.randint(1, 4))),
        )
        for name, is_table in (("s", False), ("r", False), ("t", True), ("u", True))
    )


def _random_columns(random: Random, key_type: Type) -> tuple[ColumnDefinition, ...]:
    types = random.choices(tuple(Type), k=random.randint(1, 4))
    others = [
        ColumnDefinition(f"c{place}", type_, is_extreme=type_ in _EXTREMES and random.random() < 0.3)
        for place, type_ in enumerate(types)
    ]
    return (
        ColumnDefinition(KEY, key_type),
        ColumnDefinition("g", key_type),
        ColumnDefinition("a", Type.INTEGER),
        *others,
    )


# -- records --------------------------------------------------------------------------------------


class _Times:
    """The time at which each record of a case is written: mostly later than the one before, and some far away from it. Times are apart by
    whole units, and so are the bounds of windows; some are apart by just what decides whether a record is late, or over. So records are
    often at a bound."""

    def __init__(self, random: Random, unit: int, steps: Sequence[tuple[int, ...]], bounds: Sequence[int]) -> None:
        self._random = random
        self._unit = unit
        self._bounds = bounds
        self._now = START + random.randint(0, 9) * unit
        self._steps = random.choice(steps)
        self._late = random.choice((0.0, 0.1, 0.3, 0.6))
        self._late_by = random.choice((3, 10, 40))
        self._decades = random.choice((0.0, 0.0, 0.0, 0.05))

    def next(self) -> int:
        random = self._random
        if self._bounds and random.random() < _AT_BOUNDS:
            bound = random.choice(self._bounds)
            if random.random() < _AHEAD:
                self._now += bound
                return self._now
            return max(self._now - bound, 1)
        self._now += self._unit * random.choice(self._steps)
        if random.random() < self._decades:
            return random.choice((1, SECOND, START - 7300 * DAY, START + 365 * DAY))
        if random.random() < self._late:
            return self._now - self._unit * random.randint(1, self._late_by)
        return self._now


def random_records(
    random: Random, sources: Sequence[SourceDefinition], count: int, unit: int, bounds: Sequence[int]
) -> tuple[Record, ...]:
    """Records in the order in which they are written. Those of a table's key are all in one partition. `bounds` are distances of times
    that matter to the query."""
    is_large = count > LARGE
    times = _Times(random, unit, _STEPS[1:] if is_large else _STEPS, bounds)
    keys = _random_keys(sources[0].columns[0].type, count // 50 if is_large else random.choice((1, 3, 5, 20)))
    places = {key: place for place, key in enumerate(keys)}
    tombstones = random.choice((0.0, 0.1, 0.3))
    last = dict[tuple[str, int], int]()
    order = random.sample(sources, len(sources)) if random.random() < _PHASED else None
    records = []
    for number in range(count):
        source = random.choice(sources)
        if order is not None and random.random() < _IN_PHASE:
            source = order[number * len(order) // count]
        key = None if random.random() < 0.03 else random.choice(keys)
        partition = places[key] % source.partitions if source.is_table and key is not None else None
        partition = random.randrange(source.partitions) if partition is None else partition
        time = times.next()
        if source.is_table and key is None:
            # It is not a row of the table, and whether it has a place in the order of records is not defined.
            time = last.get((source.name, partition), time)
        last[source.name, partition] = time
        is_gone = random.random() < (tombstones if source.is_table else tombstones / 10)
        values = None if is_gone else _random_values(random, source, keys)
        records.append(Record(source.name, partition, time, key, values))
    return tuple(records)


def _random_keys(type_: Type, count: int) -> list[Any]:
    if type_ is Type.STRING:
        return [*WORDS[1:], *(f"key{number}" for number in range(count))][:count]
    return [number - 1 for number in range(count)]


def _random_values(random: Random, source: SourceDefinition, keys: Sequence[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column in source.columns[1:]:
        if random.random() < _NULLS:
            values[column.name] = None
        elif column.name == "g":
            values[column.name] = random.choice(keys)
        else:
            values[column.name] = _random_value(random, column)
    return values


def _random_value(random: Random, column: ColumnDefinition) -> Any:
    if column.is_extreme:
        return random.choice(_EXTREMES[column.type])
    if column.type in INTEGERS:
        return random.randint(-9, 9)
    match column.type:
        case Type.DOUBLE:
            return random.randint(-99, 99) / 4
        case Type.DECIMAL:
            return Decimal(random.randint(-999, 999)) / 100
        case Type.STRING:
            return random.choice(WORDS)
    return random.random() < 0.5
